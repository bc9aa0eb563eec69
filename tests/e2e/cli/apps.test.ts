/** Apps of a running Workcell: several on one engine, and files that are refused before anything runs. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test, vi } from 'vitest';

import { runCli, startCli } from '../../../src/testing/cli.ts';
import { isFull, rounds } from '../../../src/testing/rounds.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';
import { web } from '../support/web.ts';
import { textOf } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const EDITOR = `modules:
  - module: filesystem
    actions: [read, write, edit, insert, ls, grep, find, mkdir, rm]
    constraints:
      paths: ["{{workspace}}"]
      max_file_size: "50MB"
`;
const REVIEWER = `modules:
  - module: filesystem
    constraints: {paths: ["{{workspace}}/src"]}
deny: {permissions: [fs.write, fs.delete]}
`;
const IN_REACH = 'the app file lies where agents may write';

test('filesystem.P7 two apps run on one engine, each with its own actions and paths', async () => {
  await using dir = await tempDir({
    'desk/a.txt': 'one\ntwo\n',
    'desk/src/b.txt': 'b\n',
    'desk/SECRET': '',
    'etc/editor.yaml': EDITOR,
    'etc/reviewer.yaml': REVIEWER,
  });
  const apps = ['--app', dir.path('etc/editor.yaml'), '--app', dir.path('etc/reviewer.yaml')];
  await using cell = await startCli(['start', '--port', '0', '--workspace', dir.path('desk'), ...apps]);
  expect(cell.stdout).toContain(
    `  app        editor (default namespace)  ${dir.path('etc/editor.yaml')}\n  app        reviewer  ${dir.path('etc/reviewer.yaml')}\n`,
  );
  expect(cell.stdout).toContain('filesystem, filesystem@reviewer');
  expect(cell.stderr).not.toContain(IN_REACH);

  const call = (...words: string[]) => runCli(['call', ...words, '--url', cell.url]);
  const edited = await call('filesystem::edit', 'path=a.txt', 'old_string=two', 'new_string=TWO');
  expect(JSON.parse(edited.stdout)).toMatchObject({ success: true, data: { preview: '     1│one\n     2│TWO\n' } });
  expect(readFileSync(dir.path('desk/a.txt'), 'utf8')).toBe('one\nTWO\n');

  const [mine, theirs, writing, help] = await Promise.all([
    call('-n', 'reviewer', 'filesystem::ls'),
    call('-n', 'reviewer', 'filesystem::read', `path=${dir.path('desk/a.txt')}`),
    call('-n', 'reviewer', 'filesystem::write', 'path=x', 'content=y'),
    call('filesystem::rm', '--help'),
  ]);
  expect(JSON.parse(mine.stdout)).toMatchObject({ data: { path: dir.path('desk/src'), count: 1 } });
  expect(JSON.parse(theirs.stdout)).toMatchObject({
    success: false,
    error: `Path '${dir.path('desk/a.txt')}' is outside allowed paths`,
  });
  expect([writing.code, writing.stderr]).toEqual([1, expect.stringContaining('function_not_found')]);
  expect(help.stdout).toContain(
    'Permissions: fs.delete\nRisk: high\nSide effects: filesystem_delete\nConstraints: paths\n',
  );

  const { body } = await web(`${cell.http}/functions/filesystem/read`, {
    method: 'POST',
    body: '{"path": "/etc/passwd"}',
  });
  expect(body).toMatchObject({ success: false, error: "Path '/etc/passwd' is outside allowed paths" });
  expect(await cell.stop()).toBe(0);
});

test.runIf(isFull)('an app file where agents may write is logged', async () => {
  await using dir = await tempDir({
    'desk/app.yaml': EDITOR,
    'etc/wide.yaml': `modules: [{module: filesystem, constraints: {paths: ["{{workspace}}/../etc"]}}]`,
  });
  const [inside, reached] = await Promise.all(
    ['desk/app.yaml', 'etc/wide.yaml'].map((file) =>
      startCli(['start', '--port', '0', '--workspace', dir.path('desk'), '--app', dir.path(file)]),
    ),
  );
  try {
    expect([inside!.stderr, reached!.stderr]).toEqual([
      expect.stringContaining(IN_REACH),
      expect.stringContaining(IN_REACH),
    ]);
  } finally {
    await Promise.all([inside!.stop(), reached!.stop()]);
  }
});

const REFUSED: [string, string | undefined, string][] = [
  ['a file that is missing', undefined, 'cannot read $: ENOENT'],
  [
    'an unknown key',
    'module: []',
    '$: unknown key "module" (did you mean "modules"?); known keys: name, modules, deny',
  ],
  ['an unknown action', 'modules: [{module: filesystem, actions: [delete]}]', '$: filesystem: no action "delete"'],
  [
    'a directory that is missing',
    'modules: [{module: filesystem, constraints: {paths: [/no/such]}}]',
    'filesystem.paths: /no/such does not exist',
  ],
];

test.each(REFUSED.slice(0, rounds(1, 4, 4)))(
  '%s ends the start with 2, and nothing listens',
  async (_, text, message) => {
    await using dir = await tempDir(text === undefined ? {} : { 'app.yaml': text });
    const { code, stdout, stderr } = await runCli(['start', '--port', '0', '--app', dir.path('app.yaml')]);
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringContaining(message.replace('$', dir.path('app.yaml'))),
    ]);
  },
);

test.runIf(isFull)('over MCP an app offers its own tools and nothing else', async () => {
  await using dir = await tempDir({ 'desk/src/b.txt': 'b\n', 'desk/a.txt': '', 'etc/reviewer.yaml': REVIEWER });
  const client = new Client({ name: 'test', version: '1' });
  const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
  const args = [main, 'mcp', '--workspace', dir.path('desk'), '--app', dir.path('etc/reviewer.yaml')];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name.replace('filesystem_', ''))).toEqual([
      'file_stat',
      'find',
      'grep',
      'ls',
      'read',
    ]);
    expect(tools.at(-1)).toMatchObject({
      annotations: { readOnlyHint: true },
      _meta: { 'workcell/policy': { permissions: ['fs.read'], risk: 'low', constraints: ['paths', 'max_file_size'] } },
    });

    const call = (path: string) => client.callTool({ name: 'filesystem_read', arguments: { path } });
    const [inside, outside] = [await call('b.txt'), await call('../a.txt')];
    expect(textOf(inside)).toContain('content:\n     1│b\n');
    expect(inside.isError).toBeFalsy();
    expect(outside.isError).toBe(true);
    expect(textOf(outside)).toBe(`F215: Path '${dir.path('desk/a.txt')}' is outside allowed paths`);
  } finally {
    await client.close();
  }
});

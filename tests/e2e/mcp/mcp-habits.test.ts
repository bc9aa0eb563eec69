/**
 * Habits of models: shell lines, and field names of other tools.
 *
 * Each call either has the intended effect, or its refusal names the call that has it, which is made here.
 */
import { writeFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { httpTransport, openClient, textOf } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dir: TempDir;
/** As it ships, and with every program allowed. */
let shipped: CliProcess;
let open: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'ws/a.md': 'one\ntwo\n', 'ws/b.md': '', 'ws/src/c.ts': 'let c;\n', 'ws/act': 'echo active\n' });
  const config = { allowlist: [], fs: { host_root: dir.path('ws') } };
  writeFileSync(dir.path('open.yaml'), JSON.stringify({ workers: [{ name: 'shell', config }] }));
  shipped = await startCli(['start', '--port', '0', '--workspace', dir.path('ws')]);
  open = await startCli(['start', '--port', '0', '-c', dir.path('open.yaml')]);
});
afterAll(async () => {
  await shipped?.[Symbol.asyncDispose]();
  await open?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

async function call({ http }: CliProcess, name: string, args: object) {
  await using client = await openClient(httpTransport(http));
  const result = await client.callTool({ name, arguments: { ...args } });
  return { isError: result.isError === true, text: textOf(result) };
}

describe('seven lines for a shell', () => {
  // With the shipped policy: the call that the refusal names, and its result.
  test.each([
    ['echo hi > x.md', 'coder::create-file', 'coder_create_file', { files: [{ path: 'x.md', content: 'hi\n' }] }],
    ['cat a.md | wc -l', 'run the first command alone', 'shell_exec', { command: 'cat a.md' }],
    ['cd src && ls', '{"command":"ls","cwd":"src"}', 'shell_exec', { command: 'ls', cwd: 'src' }],
    ['ls *.md', 'coder::list-folder', 'coder_list_folder', {}],
    ['LANG=C ls', '{"command":"ls","env":{"LANG":"C"}}', 'shell_exec', { command: 'ls', env: { LANG: 'C' } }],
    ['source ./act', 'sandbox::exec with cmd "sh" and args ["-c", LINE]', undefined, {}],
  ])('%s', async (command, says, tool, args) => {
    const refused = await call(shipped, 'shell_exec', { command });
    expect(refused).toEqual({ isError: true, text: expect.stringContaining(says) });
    if (tool !== undefined) expect(await call(shipped, tool, args)).toMatchObject({ isError: false });
  });

  // With a shell: the whole call is in the refusal, and has the intended effect.
  test.each([
    ['echo hi > y.md && cat y.md', 'hi'],
    ['cat a.md | wc -l', '2'],
    ['cd src && ls', 'c.ts'],
    ['ls *.md', 'a.md\nb.md'],
    ['FOO=1 printenv FOO', '1'],
    ['source ./act', 'active'],
  ])('%s where a shell may run', async (command, output) => {
    const { isError, text } = await call(open, 'shell_exec', { command });
    expect([isError, text]).toEqual([true, expect.stringContaining('call with {')]);
    const again = JSON.parse(/call with (\{.*\})/.exec(text)![1]!) as object;
    expect((await call(open, 'shell_exec', again)).text).toContain(`stdout:\n${output}`);
  });

  test('ls -la', async () => {
    expect(await call(shipped, 'shell_exec', { command: 'ls -la' })).toEqual({
      isError: false,
      text: expect.stringContaining('a.md'),
    });
  });
});

describe('nine field names of other tools', () => {
  test.each([
    ['coder_read_file', { file_path: 'a.md' }, 'file_path', 'path'],
    ['coder_read_file', { path: 'a.md', offset: 2 }, 'offset', 'line_from'],
    ['coder_read_file', { path: 'a.md', limit: 1 }, 'limit', 'line_to'],
    ['coder_search', { pattern: 'one' }, 'pattern', 'query'],
    ['coder_search', { query: 'one', glob: ['*.md'] }, 'glob', 'include_globs'],
    ['coder_tree', { depth: 1 }, 'depth', 'max_depth'],
    ['shell_exec', { cmd: 'ls' }, 'cmd', 'command'],
    ['shell_exec', { command: 'ls', timeout: 5_000 }, 'timeout', 'timeout_ms'],
    ['filesystem_edit', { path: 'a.md', old_str: 'two', new_string: 'three' }, 'old_str', 'old_string'],
  ])('%s %j', async (tool, args, given, meant) => {
    const refused = await call(shipped, tool, args);
    expect(refused).toEqual({
      isError: true,
      text: expect.stringContaining(`unknown field \`${given}\` (did you mean \`${meant}\`?)`),
    });
    const right = Object.fromEntries(Object.entries(args).map(([key, value]) => [key === given ? meant : key, value]));
    expect(await call(shipped, tool, right)).toMatchObject({ isError: false });
  });
});

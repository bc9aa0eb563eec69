/**
 * The published SDKs at work in an app: they edit a repository through the app file of the original. They know nothing of
 * namespaces, so a second app is called by our own client; neither sees what is not its app's.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { connect } from '#client';
import { readCatalogue, silentLog } from '#contract';
import { tempDir, type TempDir } from '#testing';
import { filesystem } from '#workers/filesystem';
import { readApps, withApps } from '../../src/assembly/app-definition.ts';
import { startWorkcell } from '../../src/assembly/workcell.ts';
import { connectSdk, versions } from './support/clients.ts';

const EDITOR = `modules:
  - module: filesystem
    actions: [read, write, edit, insert, ls, grep, find, mkdir, rm]
    constraints:
      paths: ["{{workspace}}"]
      max_file_size: "50MB"
`;

const REVIEWER = `name: reviewer
modules:
  - module: filesystem
    constraints:
      paths: ["{{workspace}}/src"]
deny:
  permissions: [fs.write, fs.delete]
`;

const FILES = {
  'repo/src/greet.ts': 'export function greet(name: string) {\r\n  return `Hello ${name}`;\r\n}\r\n',
  'repo/notes.md': 'private\n',
  'repo2/SECRET': 'SECRET',
  'editor.yaml': EDITOR,
  'reviewer.yaml': REVIEWER,
};

async function startApps(dir: TempDir) {
  const apps = readApps([dir.path('editor.yaml'), dir.path('reviewer.yaml')], {
    available: [filesystem],
    workspace: dir.path('repo'),
  });
  const cell = await startWorkcell({ host: '127.0.0.1', port: 0, entries: withApps([], apps), log: silentLog });
  return Object.assign(cell, { [Symbol.asyncDispose]: () => cell.close() });
}

type Reply = { success: boolean; data: Record<string, unknown> };

describe.each(versions)('iii-sdk %s', (version) => {
  test('edits a repository through the app file of the original, and is refused outside it', async () => {
    await using dir = await tempDir(FILES);
    const git = (...words: string[]) => execFileSync('git', ['-C', dir.path('repo'), ...words], { encoding: 'utf8' });
    git('init', '-q');
    git('add', '.');
    await using cell = await startApps(dir);
    await using sdk = connectSdk(version, cell.url);
    const call = (action: string, payload: object): Promise<Reply> =>
      sdk.trigger({ function_id: `filesystem::${action}`, payload });

    const found = await call('grep', { pattern: 'Hello', include: '*.ts' });
    const file = dir.path('repo/src/greet.ts');
    expect(found.data).toMatchObject({ matches: [{ file, line: 2 }], count: 1 });
    expect((await call('read', { path: file })).data).toMatchObject({ total_lines: 3 });

    const edited = await call('edit', {
      path: file,
      old_string: 'string) {\n  return `Hello',
      new_string: 'string) {\n  // Polite.\n  return `Good day,',
    });
    expect(edited.data.preview).toContain('     2│  // Polite.\n');
    await call('write', { path: 'src/index.ts', content: "export * from './greet.ts';\n" });
    await call('mkdir', { path: 'docs' });
    await call('rm', { path: 'notes.md' });

    expect(readFileSync(file, 'utf8')).toBe(
      'export function greet(name: string) {\r\n  // Polite.\r\n  return `Good day, ${name}`;\r\n}\r\n',
    );
    expect(git('status', '--short').trim().split('\n')).toEqual(['AD notes.md', 'AM src/greet.ts', '?? src/index.ts']);

    for (const path of ['../repo2/SECRET', dir.path('repo2/SECRET'), '/etc/passwd']) {
      const resolved = path.startsWith('/') ? path : dir.path('repo2/SECRET');
      expect(await call('read', { path })).toEqual({
        success: false,
        error: `Path '${resolved}' is outside allowed paths`,
        metadata: { code: 'F215' },
      });
      expect(await call('write', { path, content: 'x' })).toMatchObject({ success: false });
    }
    expect(readFileSync(dir.path('repo2/SECRET'), 'utf8')).toBe('SECRET');
    await expect(call('mv', { source: file, destination: 'x' })).rejects.toMatchObject({ code: 'function_not_found' });
  });
});

test('filesystem.P7 each app sees its own actions and constraints, separated by namespace', async () => {
  await using dir = await tempDir(FILES);
  await using cell = await startApps(dir);
  const bus = await connect(cell.url);
  const editor = (action: string, payload: object) => bus.call(`filesystem::${action}`, payload);
  const reviewer = (action: string, payload: object) =>
    bus.call(`filesystem::${action}`, payload, { namespace: 'reviewer' });

  expect(await editor('read', { path: 'notes.md' })).toMatchObject({ success: true });
  expect(await reviewer('read', { path: 'greet.ts' })).toMatchObject({ success: true });
  expect(await reviewer('read', { path: dir.path('repo/notes.md') })).toMatchObject({
    success: false,
    error: `Path '${dir.path('repo/notes.md')}' is outside allowed paths`,
  });
  for (const [action, payload] of [
    ['write', { path: 'x', content: '' }],
    ['edit', { path: 'greet.ts', old_string: 'a', new_string: 'b' }],
    ['rm', { path: 'greet.ts' }],
    ['mkdir', { path: 'd' }],
    ['cp', { source: 'greet.ts', destination: 'x' }],
  ] as const) {
    await expect(reviewer(action, payload)).rejects.toMatchObject({ code: 'function_not_found' });
  }

  const catalogue = await readCatalogue(bus);
  bus.close();
  const ids = (namespace: string) =>
    catalogue.filter((entry) => entry.namespace === namespace).map(({ id }) => id.replace('filesystem::', ''));
  expect(ids('default')).toEqual(['edit', 'find', 'grep', 'insert', 'ls', 'mkdir', 'read', 'rm', 'write']);
  expect(ids('reviewer')).toEqual(['file_stat', 'find', 'grep', 'ls', 'read']);
});

test('over HTTP a failure is a result like any other', async () => {
  await using dir = await tempDir(FILES);
  await using cell = await startApps(dir);
  const post = async (path: string, body: object) => {
    const reply = await fetch(`${cell.url.replace(/^ws/, 'http')}/functions/filesystem/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return [reply.status, await reply.json()];
  };
  expect(await post('read', { path: '/etc/passwd' })).toEqual([
    200,
    { success: false, error: "Path '/etc/passwd' is outside allowed paths", metadata: { code: 'F215' } },
  ]);
  expect(await post('read', {})).toEqual([
    200,
    { success: false, error: 'missing field `path`', metadata: { code: 'F210' } },
  ]);
  expect(await post('ls?namespace=reviewer', {})).toMatchObject([200, { data: { path: dir.path('repo/src') } }]);
});

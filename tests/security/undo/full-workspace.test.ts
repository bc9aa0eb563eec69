/**
 * A full workspace and a read-only one: every change is refused with the system's error, the old
 * file stays whole, and nothing half-written is left.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { mayMount, mount, run, smallDisk, tempDir, type TempDir } from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';

const SIZE_BYTES = 256 * 1024;
const MORE = 'x'.repeat(2 * SIZE_BYTES);

const canMount = mayMount();

let dir: TempDir;
let disk: Disposable | undefined;
beforeEach(async () => {
  dir = await tempDir({ 'ws/': '' });
  if (canMount) disk = smallDisk(dir.path('ws'), SIZE_BYTES);
});
afterEach(async () => {
  disk?.[Symbol.dispose]();
  await dir[Symbol.asyncDispose]();
});

/** Every way to create or change a file. */
const changes = (root: string, content: string) =>
  [
    [coder, 'coder::create-file', { files: [{ path: 'new.txt', content }] }],
    [coder, 'coder::create-file', { files: [{ path: 'a.txt', content, overwrite: true }] }],
    [coder, 'coder::create-file', { files: [{ path: 'x/y/new.txt', content }] }],
    [
      coder,
      'coder::update-file',
      { files: [{ path: 'a.txt', ops: [{ op: 'update_lines', from_line: 1, to_line: 1, content }] }] },
    ],
    [filesystem, 'filesystem::write', { path: `${root}/a.txt`, content }],
    [filesystem, 'filesystem::edit', { path: `${root}/a.txt`, old_string: 'old', new_string: content }],
    [filesystem, 'filesystem::insert', { path: `${root}/a.txt`, line: 1, content }],
    [shell, 'shell::fs::write', { path: `${root}/a.txt`, content }],
    [shell, 'shell::fs::sed', { files: [`${root}/a.txt`], pattern: 'old', replacement: content }],
  ] as const;

/** The answers to all changes, as text. */
async function outcomes(root: string, content: string): Promise<string[]> {
  const config: Record<string, Record<string, unknown>> = {
    coder: { base_path: root },
    filesystem: { paths: [root] },
    shell: { fs: { host_root: root } },
  };
  const replies: string[] = [];
  for (const [worker, id, payload] of changes(root, content)) {
    const fn = worker.functions.find((each) => each.id === id) as Parameters<typeof run>[0];
    replies.push(await run(fn, payload, config[worker.name]!).then(JSON.stringify, String));
  }
  return replies;
}

describe.skipIf(!canMount)('a change is refused and leaves what was there', () => {
  test('without room', async () => {
    const root = dir.path('ws');
    writeFileSync(`${root}/a.txt`, 'old\n');
    for (const replies of await outcomes(root, MORE)) expect(replies).toContain('ENOSPC');
    expect(readFileSync(`${root}/a.txt`, 'utf8')).toBe('old\n');
    expect(readdirSync(root, { recursive: true }).filter((name) => String(name).includes('.workcell-'))).toEqual([]);
  });

  test('in a copy without room', async () => {
    const root = dir.path('ws');
    mkdirSync(`${root}/tree`);
    writeFileSync(`${root}/tree/a`, 'x'.repeat(SIZE_BYTES * 0.6));
    const cp = filesystem.functions.find(({ id }) => id === 'filesystem::cp') as Parameters<typeof run>[0];
    const asked = { source: `${root}/tree`, destination: `${root}/copy`, recursive: true };
    expect(JSON.stringify(await run(cp, asked, { paths: [root] }))).toContain('ENOSPC');
    expect(readdirSync(root)).toEqual(['tree']);
  });

  test('read-only', async () => {
    const root = dir.path('ws');
    writeFileSync(`${root}/a.txt`, 'old\n');
    mount(['-o', 'remount,ro', root]);
    for (const replies of await outcomes(root, 'new')) expect(replies).toContain('EROFS');
    expect(readFileSync(`${root}/a.txt`, 'utf8')).toBe('old\n');
    expect(readdirSync(root)).toEqual(['a.txt']);
  });
});

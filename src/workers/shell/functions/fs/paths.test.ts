/** Paths and payloads of every file operation. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { FunctionDef } from '#contract';
import { run, tempDir, type TempDir } from '#testing';
import { shell } from '../../index.ts';

const operations = shell.functions.filter(({ id }) => id.startsWith('shell::fs::'));

/** A request that each takes, about one path. */
const requests: Record<string, (path: string) => Record<string, unknown>> = {
  ls: (path) => ({ path }),
  stat: (path) => ({ path }),
  read: (path) => ({ path }),
  write: (path) => ({ path, content: 'new' }),
  mkdir: (path) => ({ path }),
  rm: (path) => ({ path, recursive: true }),
  chmod: (path) => ({ path, mode: '0700' }),
  mv: (path) => ({ src: path, dst: `${path}-moved` }),
  grep: (path) => ({ path, pattern: 'x' }),
  sed: (path) => ({ files: [path], pattern: 'x', replacement: 'y' }),
};
const names = Object.keys(requests);
const except = (...left: string[]) => names.filter((name) => !left.includes(name));

const config = (dir: TempDir) => ({ fs: { host_root: dir.path('j'), denylist_paths: [dir.path('j/secret')] } });

function operation(name: string): FunctionDef<unknown> {
  return operations.find(({ id }) => id === `shell::fs::${name}`) as FunctionDef<unknown>;
}

async function codeOf(dir: TempDir, name: string, payload: unknown): Promise<string | undefined> {
  try {
    await run(operation(name), payload, config(dir));
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** Each path with the code that it gives. */
function codesOf(dir: TempDir, name: string, paths: string[]): Promise<string[]> {
  return Promise.all(paths.map(async (path) => `${path} ${await codeOf(dir, name, requests[name]!(path))}`));
}

const FILES = {
  'j/f': 'x',
  'j/secret/x': 'x',
  'j/to-secret': { symlink: 'secret' },
  'j/to-x': { symlink: 'secret/x' },
  'j/d': { symlink: 'nothing' },
  'j/out': { symlink: '../o' },
  'j/out-file': { symlink: '../o/x' },
  'o/x': 'x',
} as const;

test('each of the ten is tried', () => {
  expect(operations.map(({ id }) => id.replace('shell::fs::', '')).toSorted()).toEqual(names.toSorted());
});

describe.each(names)('%s', (name) => {
  const payload = requests[name]!;

  test('shell.F02 without fields says what is missing', async () => {
    await using dir = await tempDir(FILES);
    await expect(run(operation(name), {}, config(dir))).rejects.toMatchObject({
      code: 'S210',
      message: expect.stringMatching(new RegExp(`^bad ${name} payload: missing field`)),
    });
  });

  test('shell.F03 a path outside is refused, and so is one that leaves', async () => {
    await using dir = await tempDir(FILES);
    const outside = ['o/x', 'o/new', 'j/../o/x', 'j/out/x', 'j/out/new/x', 'j/no/../../o/x', 'j2/x'].map(dir.path);
    const paths = [...outside, `${dir.path('j/no')}/../../../etc/x`, '/etc/hostname'];
    expect(await codesOf(dir, name, paths)).toEqual(paths.map((path) => `${path} S215`));
    expect(readdirSync(dir.path('o'))).toEqual(['x']);
  });

  test('a relative path is refused', async () => {
    await using dir = await tempDir(FILES);
    expect(await codeOf(dir, name, payload('f'))).toBe('S210');
    expect(await codeOf(dir, name, payload(''))).toBe('S210');
  });

  test('a NUL and a path longer than any are refused', async () => {
    await using dir = await tempDir(FILES);
    expect(await codeOf(dir, name, payload(`${dir.path('j')}/a\0b`))).toBe('S210');
    expect(await codeOf(dir, name, payload(`${dir.path('j')}/${'x/'.repeat(5000)}`))).toBe('S210');
  });

  test('shell.P11 shell.F06 a denylisted path is refused, also by another way', async () => {
    await using dir = await tempDir(FILES);
    const paths = ['j/secret', 'j/secret/x', 'j/secret/new', 'j/to-secret/x', 'j/f/../secret/x'].map(dir.path);
    expect(await codesOf(dir, name, paths)).toEqual(paths.map((path) => `${path} S215`));
    expect(readdirSync(dir.path('j/secret'))).toEqual(['x']);
  });

  test('an unknown target is refused by name', async () => {
    await using dir = await tempDir(FILES);
    for (const target of [null, {}, { kind: 'elsewhere' }, { kind: 'sandbox', sandbox_id: 'x' }]) {
      const calling = run(operation(name), { ...payload(dir.path('j/f')), target }, config(dir));
      await expect(calling).rejects.toMatchObject({ code: 'S210', message: expect.stringContaining('target') });
    }
  });
});

test.each(except('rm'))(
  'shell.P11 shell.F05 shell.F06 %s refuses a link to nothing, to the outside or to a denylisted path',
  async (name) => {
    await using dir = await tempDir(FILES);
    const before = readdirSync(dir.root, { recursive: true });
    const paths = ['j/d', 'j/d/below', 'j/out', 'j/out-file', 'j/to-secret', 'j/to-x'].map(dir.path);
    expect(await codesOf(dir, name, paths)).toEqual(paths.map((path) => `${path} S215`));
    expect(readdirSync(dir.root, { recursive: true })).toEqual(before);
  },
);

test('a denylisted path is meant however the operator spells it, and before it is there', async () => {
  await using dir = await tempDir({ 'j/real/x': '', 'j/link': { symlink: 'real' }, 'j/a/': '' });
  const fs = { host_root: dir.path('j'), denylist_paths: [dir.path('j/link'), dir.path('j/later'), 'j/relative'] };
  const read = (path: string) => run(operation('stat'), { path: dir.path(path) }, { fs });
  await expect(read('j/real/x')).rejects.toMatchObject({ code: 'S215' });
  await expect(read('j/link')).rejects.toMatchObject({ code: 'S215' });
  mkdirSync(dir.path('j/later'));
  symlinkSync('../later', dir.path('j/a/way'));
  await expect(read('j/a/way/x')).rejects.toMatchObject({ code: 'S215' });
  await expect(read('j/a')).resolves.toMatchObject({ is_dir: true });
});

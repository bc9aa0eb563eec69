import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

import { describe, expect, test } from 'vitest';

import { parseConfig, silentLog, type CallScope } from '#contract';
import { jailModes, NOBODY_UID, run, tempDir } from '#testing';
import type { CoderConfig } from '../config.ts';
import { coder, MAX_TREE_NODES, openCoder } from '../worker.ts';
import { tree } from './tree.ts';

type Node = Awaited<ReturnType<typeof show>>;

const show = async (base_path: string, payload: object = {}, config: object = {}) =>
  (await run(tree, payload, { base_path, ...config })).root;

/** A node as `name`, a folder as `name(children)`, with `!` and the reason where it was cut. */
function spelled({ name, children, truncated }: Node): string {
  const inside = children ? `(${children.map(spelled).join(' ')})` : '';
  return name + inside + (truncated ? `!${truncated.reason}` : '');
}

const below = (root: Node) => (root.children ?? []).map(spelled).join(' ');

describe.each(jailModes())('%s jail', (_, way) => {
  const open = (parsed: unknown, log: typeof silentLog) => openCoder(parsed as CoderConfig, log, undefined, way);
  const show = async (base_path: string, payload: object = {}, config: object = {}) =>
    (await run(tree, payload, { base_path, ...config }, { open })).root;

  test('coder.C98 every kind of entry with its facts, links not followed, protected ones flagged', async () => {
    await using dir = await tempDir({
      'd/': '',
      f: 'four',
      'secrets/k': '',
      link: { symlink: 'd' },
      out: { symlink: '/etc' },
      pipe: { fifo: true },
    });
    for (const name of ['f', 'd', 'secrets', 'secrets/k', '.']) utimesSync(dir.path(name), 0, 1_700_000_000.9);
    const { children, size, ...root } = await show(dir.root);

    expect(root).toEqual({
      name: basename(dir.root),
      path: '',
      kind: 'dir',
      mtime: 1_700_000_000,
      non_accessible: false,
    });
    expect(size).toBeGreaterThanOrEqual(0);
    const [d, f, link, out, pipe, secrets] = children!;
    expect(d).toMatchObject({ name: 'd', path: 'd', kind: 'dir', children: [] });
    expect(f).toEqual({ name: 'f', path: 'f', kind: 'file', size: 4, mtime: 1_700_000_000, non_accessible: false });
    expect([link, out, pipe].map((node) => `${spelled(node!)} ${node!.kind}`)).toEqual([
      'link symlink',
      'out symlink',
      'pipe other',
    ]);
    expect(secrets).toMatchObject({
      non_accessible: false,
      children: [{ name: 'k', path: 'secrets/k', non_accessible: true }],
    });
    expect(await show(dir.root, { path: 'secrets/../secrets' })).toMatchObject({ non_accessible: false });
  });

  test('coder.C103 paths are from base_path, wherever the tree starts', async () => {
    await using dir = await tempDir({ 'sub/inside/x': '', alias: { symlink: 'sub' } });
    const sub = { name: 'sub', path: 'sub', children: [{ name: 'inside', path: 'sub/inside' }] };
    expect(await show(dir.root, { path: 'sub' })).toMatchObject(sub);
    expect(await show(dir.root, { path: 'alias/' })).toMatchObject(sub);
    expect(await show(dir.root, { path: 'sub/inside' })).toMatchObject({
      name: 'inside',
      path: 'sub/inside',
      children: [{ name: 'x', path: 'sub/inside/x' }],
    });
  });

  test('coder.C104 a folder that cannot be read is marked, and the call continues', async () => {
    await using dir = await tempDir({ 'u/hidden': '', 'v/x': '', 'shut/': '' });
    chmodSync(dir.root, 0o755);
    for (const name of ['u', 'shut']) chmodSync(dir.path(name), 0o000);
    const [root, shut] = await unprivileged(() => Promise.all([show(dir.root), show(dir.root, { path: 'shut' })]));

    expect(below(root)).toBe('shut!io_error u!io_error v(x)');
    expect(root.children![1]!.truncated).toEqual({
      reason: 'io_error',
      shown: 0,
      hint: 'u is not permitted by the operating system (EACCES)',
    });
    expect(shut.truncated).toMatchObject({ reason: 'io_error', shown: 0 });
  });
});

test('coder.C100 a folder over the limit shows the first names and where the others are', async () => {
  await using dir = await tempDir({ 'd/a': '', 'd/B': '', 'd/c': '', e: '' });
  const root = await show(dir.root, { per_folder_limit: 2 });
  expect(below(root)).toBe('d(B a)!per_folder_limit e');
  expect(root.children![0]!.truncated).toEqual({
    reason: 'per_folder_limit',
    shown: 2,
    total: 3,
    hint: 'call coder::list-folder with path "d" for all 3 entries, page by page',
  });
  const limits = [0, 3, null].map((per_folder_limit) => show(dir.root, { path: 'd', per_folder_limit }));
  expect((await Promise.all(limits)).map(spelled)).toEqual(['d(B)!per_folder_limit', 'd(B a c)', 'd(B a c)']);
  expect(below(await show(dir.root, {}, { tree_per_folder_limit: 1 }))).toBe('d(B)!per_folder_limit');
});

test.each([
  ['coder.C101 the folder alone', 0, ''],
  ['one level', 1, 'a!max_depth empty!max_depth f'],
  ['two levels', 2, 'a(b!max_depth) empty() f'],
  ['all of it', 4_000_000_000, 'a(b(c(d(e)))) empty() f'],
  ['the configured depth', null, 'a(b(c!max_depth)) empty() f'],
])('%s', async (_, max_depth, expected) => {
  await using dir = await tempDir({ 'a/b/c/d/e': '', 'empty/': '', f: '' });
  expect(below(await show(dir.root, { max_depth }, { tree_default_depth: 3 }))).toBe(expected);
});

test('coder.C101 a folder at the depth is cut without children, empty or not', async () => {
  await using dir = await tempDir();
  const { children, truncated } = await show(dir.root, { max_depth: 0 });
  expect([children, truncated]).toEqual([
    undefined,
    { reason: 'max_depth', shown: 0, hint: 'raise max_depth, or call coder::tree with path "."' },
  ]);
});

test('names are sorted by their bytes, and one that is not UTF-8 is shown as well as text can', async () => {
  await using dir = await tempDir({ b: '', A: '', '.h': '', '～': '', '😀': '', é: '' });
  writeFileSync(Buffer.concat([Buffer.from(`${dir.root}/`), Buffer.from([0x61, 0xff])]), '');
  expect(below(await show(dir.root))).toBe('.h A a\uFFFD b é ～ 😀');
});

test('a folder whose name is not UTF-8 is opened by its bytes', async () => {
  await using dir = await tempDir();
  execFileSync('sh', ['-c', String.raw`d=$(printf "$0/a\377"); mkdir "$d"; touch "$d/x"`, dir.root]);
  expect(below(await show(dir.root))).toBe('a\uFFFD(x)');
});

test('coder.P14 no answer has more nodes than its cap, the first folders first', async () => {
  const entries = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'b/3', 'b/4', 'c/x'].map((name) => [name, '']);
  await using dir = await tempDir(Object.fromEntries(entries));
  const show = async (treeMaxNodes: number, payload: object = {}) => {
    const open = (parsed: unknown, log: typeof silentLog) => ({
      ...openCoder(parsed as CoderConfig, log),
      treeMaxNodes,
    });
    return (await run(tree, payload, { base_path: dir.root }, { open })).root;
  };
  const root = await show(9);
  expect(below(root)).toBe('a(1 2 3) b(1 2)!max_nodes c!max_nodes');
  const hint = 'a tree shows at most 9 entries; ask for a path below, or for less depth or width';
  expect(root.children!.map(({ truncated }) => truncated)).toEqual([
    undefined,
    { reason: 'max_nodes', shown: 2, total: 4, hint },
    { reason: 'max_nodes', shown: 0, hint },
  ]);
  expect(below(await show(9, { per_folder_limit: 2 }))).toBe('a(1 2)!per_folder_limit b(1 2)!per_folder_limit');
  expect(MAX_TREE_NODES).toBe(50_000);
});

test('other calls run while a large tree is shown', async () => {
  const names = Array.from({ length: 3000 }, (_, i) => [`${i % 3}/f${i}`, '']);
  await using dir = await tempDir(Object.fromEntries(names));
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  await show(dir.root, { per_folder_limit: 1000 });
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
});

test('a nest deeper than 200 folders is cut there, and no descriptor stays open', async () => {
  await using dir = await tempDir({ [`${'d/'.repeat(210)}f`]: '' });
  let node = await show(dir.root, { max_depth: 300 });
  let depth = 0;
  for (; node.children; node = node.children[0]!) depth += 1;
  expect([depth, node.truncated?.reason]).toEqual([200, 'max_depth']);
  expect(openDescriptors(dir.root)).toEqual([]);
});

test('stops after its caller left', async () => {
  const names = Array.from({ length: 600 }, (_, i) => [`f${i}`, '']);
  await using dir = await tempDir(Object.fromEntries(names));
  const context = openCoder(parseConfig(coder.config, { base_path: dir.root }, 'coder'), silentLog);
  const scope = { signal: AbortSignal.abort(new Error('cancelled')) } as CallScope;
  const request = tree.request.parse({ per_folder_limit: 1000 });
  await expect(async () => tree.handle(request, context, scope)).rejects.toThrow('cancelled');
});

/** Runs the work as an ordinary user, so that permissions apply. */
async function unprivileged<T>(work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid!() === 0;
  if (isRoot) process.seteuid!(NOBODY_UID);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid!(0);
  }
}

function openDescriptors(root: string): string[] {
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return targets.filter((target) => target.startsWith(root));
}

test('with respect_gitignore .git and what .gitignore files name is neither shown nor counted; a model has it so', async () => {
  await using dir = await tempDir({
    '.gitignore': 'node_modules/\n*.log\n',
    '.git/config': '',
    'node_modules/x/index.js': '',
    'a.log': '',
    'src/.gitignore': 'out\n!keep.log\n',
    'src/a.ts': '',
    'src/keep.log': '',
    'src/out/b.js': '',
  });
  const all = '.git(config) .gitignore a.log node_modules(x(index.js)) src(.gitignore a.ts keep.log out(b.js))';
  const kept = '.gitignore src(.gitignore a.ts keep.log)';
  expect(below(await show(dir.root))).toBe(all);
  expect(below(await show(dir.root, { respect_gitignore: true }))).toBe(kept);
  expect(below(await show(dir.root, { respect_gitignore: true, path: 'node_modules' }))).toBe('x(index.js)');
  const limited = await show(dir.root, { respect_gitignore: true, per_folder_limit: 1 });
  expect(limited.truncated).toMatchObject({ shown: 1, total: 2 });

  const config = { base_path: dir.root };
  const forModel = async (payload: object) => below((await run(tree, payload, config, { door: 'model' })).root);
  expect([await forModel({}), await forModel({ respect_gitignore: false })]).toEqual([kept, all]);
});

test('a large folder is filtered batch by batch', async () => {
  await using dir = await tempDir({ '.gitignore': '*.log\n' });
  for (let i = 0; i < 9000; i++) writeFileSync(dir.path(`${i}.${i % 9 === 0 ? 'txt' : 'log'}`), '');
  const { children, truncated } = await show(dir.root, { respect_gitignore: true, per_folder_limit: 5 });
  expect([children!.length, truncated?.total]).toEqual([5, 1001]);
});

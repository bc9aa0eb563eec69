/** The configuration file of a running Workcell: variables, changes that are applied, and changes that are not. */
import { readlinkSync, renameSync, statSync, writeFileSync } from 'node:fs';

import { describe, expect, test, vi } from 'vitest';

import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { isFull, rounds } from '../../../src/testing/rounds.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';
import { freePort, isListening, web } from '../support/web.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const APPLIED = 'applied the changed configuration';
const KEPT = 'kept the running configuration: the changed one is not usable';
const NOT_WATCHED = 'the configuration file lies in the workspace, where agents may write';

async function functionIds(cell: CliProcess): Promise<string[]> {
  const { body } = await web(`${cell.http}/functions`);
  return (body as { functions: { id: string }[] }).functions.map(({ id }) => id);
}

async function contentOf(cell: CliProcess, path: string): Promise<unknown> {
  const { body } = await web(`${cell.http}/functions/coder/read-file`, {
    method: 'POST',
    body: JSON.stringify({ path }),
  });
  return (body as { content?: string }).content;
}

/** Changes the file and waits until the server noticed. */
async function after(cell: CliProcess, notice: string, change: () => unknown): Promise<void> {
  const from = cell.stderr.length;
  await change();
  await cell.logged(notice, from);
}

/** Replaces the file at once, as editors do. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

describe.concurrent('a configuration file', () => {
  test.runIf(isFull)('has its variables replaced', async () => {
    await using dir = await tempDir({
      'etc/cell.yaml':
        'workers:\n  - name: ${NAME:coder}\n    config:\n      base_path: ${ROOT:/nowhere}\n      max_read_bytes: ${MAX:3}\n',
      'root/a.txt': 'abc',
      'root/b.txt': 'abcd',
    });
    await using cell = await startCli(['start', '--port', '0', '-c', dir.path('etc/cell.yaml')], {
      env: { ROOT: dir.path('root') },
    });
    expect([await contentOf(cell, 'a.txt'), await contentOf(cell, 'b.txt')]).toEqual(['abc', undefined]);
  });

  test('of the home directory is used when none is named, and may be made by worker add', async () => {
    await using dir = await tempDir({ 'home/': '', 'desk/a.txt': 'abc' });
    const at = { home: dir.path('home'), cwd: dir.path('desk') };
    const file = dir.path('home/.config/workcell/config.yaml');
    expect(await runCli(['worker', 'add', 'coder'], at)).toEqual({
      code: 0,
      stdout: `added coder to ${file}\n`,
      stderr: '',
    });
    expect(await runCli(['worker', 'add', 'coder'], at)).toEqual({
      code: 0,
      stdout: `coder is in ${file} already\n`,
      stderr: '',
    });
    await using cell = await startCli(['start', '--port', '0'], at);
    expect(cell.stdout).toContain(`  config     ${file}\n`);
    expect(await contentOf(cell, 'a.txt')).toBe('abc');
  });

  test.runIf(isFull)('is written by worker add only for a worker that there is', async () => {
    await using dir = await tempDir({ 'broken.yaml': 'workers: [' });
    const add = (name: string, file: string) => runCli(['worker', 'add', name, '-c', file], { cwd: dir.root });
    const [unknown, broken] = await Promise.all([add('codr', 'new.yaml'), add('coder', 'broken.yaml')]);
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no worker "codr" (did you mean "coder"?)'),
    });
    expect(broken).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^Error: config: /) });
  });

  test.each([
    ['{}', true],
    ['{fence: workspace}', false],
  ])('a shell with %s: the start says whether commands run without a fence', async (block, isOpen) => {
    await using dir = await tempDir({ 'cell.yaml': `workers: [{name: shell, config: ${block}}]\n`, 'desk/': '' });
    await using cell = await startCli(['start', '--port', '0', '-c', dir.path('cell.yaml')], { cwd: dir.path('desk') });
    expect(
      cell.stdout.includes('  commands   that shell allows run as this user, without a fence; `fence: workspace`'),
    ).toBe(isOpen);
  });

  test('http.P6 is followed while running: added, changed, broken, removed', async () => {
    await using dir = await tempDir({
      'etc/cell.yaml': '# mine\nworkers: []\n',
      'desk/a.txt': 'abc',
      'other/a.txt': 'xyz',
    });
    const file = dir.path('etc/cell.yaml');
    await using cell = await startCli(['start', '--port', '0', '-c', file], { cwd: dir.path('desk') });
    expect(cell.stdout).toContain('none: add one with workcell worker add <name>');
    expect(await functionIds(cell)).toEqual([]);

    await after(cell, APPLIED, () => runCli(['worker', 'add', 'coder', '-c', file]));
    expect(await functionIds(cell)).toContain('coder::read-file');
    expect(await contentOf(cell, 'a.txt')).toBe('abc');

    const moved = `workers: [{name: coder, config: {base_path: ${dir.path('other')}}}]\n`;
    await after(cell, APPLIED, () => replace(file, moved));
    expect(await contentOf(cell, 'a.txt')).toBe('xyz');

    for (const broken of [
      'workers: [',
      moved.replace('coder', 'codr'),
      moved.replace('base_path', 'base'),
      moved.replace('other', 'none'),
    ]) {
      await after(cell, KEPT, () => replace(file, broken));
      expect([broken, await contentOf(cell, 'a.txt')]).toEqual([broken, 'xyz']);
    }

    await after(cell, APPLIED, () => writeFileSync(file, 'workers: []\n'));
    expect(await functionIds(cell)).toEqual([]);
    expect(await cell.stop()).toBe(0);
  });

  test.runIf(isFull)('may be a link: its mode stays, and changes of its target are followed', async () => {
    await using dir = await tempDir({
      'real/cell.yaml': { content: 'workers: []\n', mode: 0o600 },
      'etc/link.yaml': { symlink: '../real/cell.yaml' },
      'desk/': '',
    });
    const link = dir.path('etc/link.yaml');
    await using cell = await startCli(['start', '--port', '0', '-c', link], { cwd: dir.path('desk') });
    await after(cell, APPLIED, () => runCli(['worker', 'add', 'coder', '-c', link]));
    expect(await functionIds(cell)).toContain('coder::read-file');
    expect([readlinkSync(link), statSync(link).mode & 0o777]).toEqual(['../real/cell.yaml', 0o600]);
  });

  test('cannot be changed into one that agents could write', async () => {
    await using dir = await tempDir({ 'etc/cell.yaml': 'workers: []\n', 'desk/': '' });
    const file = dir.path('etc/cell.yaml');
    await using cell = await startCli(['start', '--port', '0', '-c', file], { cwd: dir.path('desk') });
    await after(cell, KEPT, () => replace(file, `workers: [{name: coder, config: {base_path: ${dir.path('etc')}}}]\n`));
    expect(cell.stderr).toContain(`it would let agents write ${file}`);
    expect(await functionIds(cell)).toEqual([]);
  });
});

const UNUSABLE: [string, string | undefined, string][] = [
  ['a missing file', undefined, 'cannot read {root}/cell.yaml: ENOENT'],
  [
    'an unknown key',
    'workers: [{name: coder, config: {base_pth: .}}]',
    'workers.coder: unknown key "base_pth" (did you mean "base_path"?); known keys: base_path, ',
  ],
  [
    'an unknown worker',
    'workers: [{name: codr}]',
    'workers: no worker "codr" (did you mean "coder"?); this build has: ',
  ],
  ['a directory that is not there', 'workers: [{name: coder, config: {base_path: ./none}}]', 'coder.base_path: '],
];

describe.concurrent('http.P5 a configuration that cannot be used starts nothing, names what is wrong and exits 2:', () => {
  test.each(UNUSABLE.slice(0, rounds(2, 4, 4)))('%s', async (_, text, message) => {
    await using dir = await tempDir(text === undefined ? {} : { 'cell.yaml': text });
    const port = await freePort();
    const started = await runCli(['start', '--port', String(port), '-c', 'cell.yaml'], { cwd: dir.root });
    expect(started).toMatchObject({ code: 2, stdout: '' });
    expect(started.stderr.startsWith(`Error: ${message.replace('{root}', dir.root)}`)).toBe(true);
    expect(await isListening(port)).toBe(false);
  });
});

const IN_REACH: [string, string, string[]][] = [
  ['one in the workspace', 'desk/cell.yaml', ['--workspace', 'desk']],
  ['one in the current directory', 'cell.yaml', []],
  ['a link in the workspace', 'desk/link.yaml', ['--workspace', 'desk']],
  ['a link into the workspace', 'etc/link.yaml', ['--workspace', 'desk']],
  ['one below the base_path of its own block', 'etc/etc.yaml', ['--workspace', 'desk']],
];

describe.concurrent('http.P7 a configuration file that agents could write is not followed:', () => {
  test.runIf(isFull)('what a neighbour out of reach takes over changes nothing here', async () => {
    await using dir = await tempDir({ 'desk/cell.yaml': 'workers: [{name: coder}]\n', 'other/': '' });
    const start = (workspace: string) =>
      startCli(['start', '--port', '0', '-c', dir.path('desk/cell.yaml'), '--workspace', dir.path(workspace)]);
    await using inside = await start('desk');
    await using outside = await start('other');
    await after(outside, APPLIED, () => replace(dir.path('desk/cell.yaml'), 'workers: []\n'));
    expect(await functionIds(outside)).toEqual([]);
    expect(await functionIds(inside)).toContain('coder::read-file');
  });

  test.each(IN_REACH.slice(0, rounds(1, 5, 5)))('%s', async (_, name, args) => {
    const text = 'workers: [{name: coder}]\n';
    await using dir = await tempDir({
      'cell.yaml': text,
      'desk/cell.yaml': text,
      'desk/link.yaml': { symlink: '../etc/real.yaml' },
      'etc/real.yaml': text,
      'etc/link.yaml': { symlink: '../desk/cell.yaml' },
    });
    dir.add({ 'etc/etc.yaml': `workers: [{name: coder, config: {base_path: ${dir.path('etc')}}}]\n` });
    await using cell = await startCli(['start', '--port', '0', '-c', name, ...args], { cwd: dir.root });
    expect(JSON.parse(cell.stderr.split('\n')[0]!)).toMatchObject({
      level: 'warn',
      message: expect.stringContaining(NOT_WATCHED),
      file: dir.path(name),
    });

    replace(dir.path(name), 'workers: []\n');
    expect(await functionIds(cell)).toContain('coder::read-file');
    expect(await cell.stop()).toBe(0);
    expect(cell.stderr).not.toContain(APPLIED);
  });
});

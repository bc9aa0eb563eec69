/** The limits of changes, and full disks: refusals, lists, and a workspace that stays whole. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { CallError } from '#contract';
import { changeCell, mayMount, modesAndContents as treeOf, rounds, smallDisk, type ChangeCell } from '#testing';

interface Ran {
  exit_code: number;
  stderr: string;
}

const running = (cell: ChangeCell, change: string, script: string) =>
  cell.call<Ran>('shell::exec', { change, command: '/bin/sh', args: ['-c', script] });

const listed = async (cell: ChangeCell) =>
  (await cell.call<{ changes: Record<string, unknown>[] }>('change::list')).changes;

describe.skipIf(process.platform !== 'linux')('limits of changes', () => {
  test('names, limits and unknown changes', async () => {
    await using cell = await changeCell({ a: 'x' }, { change: { max_open: 2, max_bytes: 10 } });
    await cell.begin('one');
    expect(await cell.failure('change::begin', { name: 'one' })).toMatchObject({
      code: 'W210',
      fix: { name: 'one-2' },
    });
    for (const name of ['No', '-a', 'a_b', '', 'a'.repeat(65)]) {
      const allowed = expect.stringContaining('must be 1 to 64 of a-z, 0-9 and -, and not start with -');
      expect(await cell.failure('change::begin', { name })).toMatchObject({ code: 'W210', message: allowed });
    }
    await cell.begin('two');
    expect(await cell.failure('change::begin')).toMatchObject({ code: 'W215' });
    await cell.sh('one', 'echo more than ten bytes > b');
    await expect
      .poll(() => cell.failure('coder::read-file', { path: 'a', change: 'one' }).catch(() => ({})))
      .toMatchObject({ code: 'C230', message: expect.stringContaining('max_bytes is 10') });
    expect(await cell.failure('coder::read-file', { path: 'a', change: 'tow' })).toMatchObject({
      code: 'C230',
      fix: { change: 'two' },
    });
    expect(await cell.failure('shell::exec', { command: 'ls', change: 'none' })).toMatchObject({ code: 'S230' });
    expect(await cell.call('filesystem::ls', { path: cell.workspace, change: 'none' })).toMatchObject({
      success: false,
      metadata: { code: 'F230' },
    });
    expect(await cell.failure('change::discard', { change: 'none' })).toMatchObject({ code: 'W211' });
    const bad = await cell.failure('coder::read-file', { path: 'a', change: '../one' });
    expect(bad).toMatchObject({ code: 'C230' });
  });

  test('above max_bytes calls are refused and the list says so; diff, commit of a part and discard still work', async () => {
    await using cell = await changeCell({ a: 'x' }, { change: { max_bytes: 10 } });
    const change = await cell.begin();
    expect(await listed(cell)).toMatchObject([{ is_over_limit: false }]);
    await running(cell, change, 'printf 123456789 > b; printf 123456789 > c');
    await expect
      .poll(() => cell.failure('coder::read-file', { path: 'a', change }).catch(() => ({})))
      .toMatchObject({ code: 'C230', message: expect.stringContaining('max_bytes is 10; commit or discard it') });
    expect(await cell.failure('shell::exec', { change, command: 'ls' })).toMatchObject({ code: 'S230' });
    expect(await listed(cell)).toMatchObject([{ is_over_limit: true, bytes: 18 }]);
    expect(await cell.call('change::diff', { change })).toMatchObject({ summary: { added: 2 } });
    expect(await cell.call('change::commit', { change, paths: ['b'] })).toMatchObject({ closed: false });
    expect(readFileSync(cell.at('b'), 'utf8')).toBe('123456789');
    expect(await cell.call('change::discard', { change })).toMatchObject({ discarded: change });
  });

  test('a diff compares at most max_files_diff files', async () => {
    await using cell = await changeCell({}, { change: { max_files_diff: 3 } });
    const change = await cell.begin();
    await running(cell, change, 'touch 1 2 3');
    expect(await cell.call('change::diff', { change })).toMatchObject({ summary: { added: 3 } });
    await running(cell, change, 'touch 4');
    for (const id of ['change::diff', 'change::commit']) {
      const refused = { code: 'W215', message: expect.stringContaining('max_files_diff') };
      expect(await cell.failure(id, { change })).toMatchObject(refused);
    }
    expect(readdirSync(cell.workspace)).toEqual([]);
  });

  test('a change unused for idle_days is listed as stale until a call uses it', async () => {
    await using cell = await changeCell({ a: 'x' }, { change: { idle_days: 3 } });
    const [old, young] = [await cell.begin('old'), await cell.begin('young')];
    const [store] = readdirSync(cell.dir.path('state/changes'));
    const age = (name: string, days: number) => {
      const then = Date.now() / 1000 - days * 86_400;
      utimesSync(cell.dir.path(`state/changes/${store}/${name}/lock`), then, then);
    };
    age(old, 4);
    age(young, 2);
    const stale = async () => (await listed(cell)).map(({ change, is_stale }) => [change, is_stale]);
    expect(await stale()).toEqual([
      ['old', true],
      ['young', false],
    ]);
    await cell.call('coder::read-file', { path: 'a', change: old });
    expect(await stale()).toEqual([
      ['old', false],
      ['young', false],
    ]);
  });

  test('a file larger than max_write_bytes of coder is committed, and shown without its lines', async () => {
    await using cell = await changeCell({ 'a.txt': 'a' });
    const change = await cell.begin();
    const size = 11 * 2 ** 20;
    await cell.sh(change, `head -c ${size} /dev/zero | tr '\\0' 'x' > large.txt`);
    const content = 'x'.repeat(size);
    const refused = await cell.call('coder::create-file', { files: [{ path: 'b.txt', content }] });
    expect(JSON.stringify(refused)).toContain('C213');
    const { files } = await cell.call<{ files: object[] }>('change::diff', { change });
    expect(files).toEqual([expect.objectContaining({ path: 'large.txt', kind: 'added', size, too_large: true })]);
    expect(files[0]).not.toHaveProperty('unified');
    await cell.call('change::commit', { change });
    expect(readFileSync(cell.at('large.txt'), 'utf8') === content).toBe(true);
  });
});

function asFailure(error: unknown): CallError {
  if (error instanceof CallError) return error;
  throw error;
}

const ROOM = 512 * 1024;

describe.runIf(mayMount())('without room (root, which can mount a small disk)', () => {
  test('a command in a change gets ENOSPC, and the workspace is as it was', async () => {
    const entries = { 'a.txt': 'old\n', 'large.bin': Buffer.alloc(2 * ROOM) };
    let disk: Disposable | undefined;
    const prepare: Prepare = (dir) => {
      mkdirSync(dir.path('state/changes'));
      disk = smallDisk(dir.path('state/changes'), ROOM);
    };
    await using cell = await changeCell(entries, { prepare });
    using mounted = disk!;
    expect(mounted).toBeDefined();
    const before = treeOf(cell.workspace);
    const change = await cell.begin();
    const full = { exit_code: expect.any(Number), stderr: expect.stringContaining('No space left on device') };
    // A file of the workspace has to be copied before it is changed.
    expect(await running(cell, change, 'echo new > a.txt; echo x >> large.bin')).toMatchObject(full);
    expect(await running(cell, change, `head -c ${2 * ROOM} /dev/zero > made.bin`)).toMatchObject(full);
    const file = { path: 'b.txt', content: 'x'.repeat(ROOM) };
    const refused = await cell.call('coder::create-file', { change, files: [file] });
    expect(JSON.stringify(refused)).toContain('ENOSPC');
    expect(treeOf(cell.workspace)).toEqual(before);

    const filled = await running(cell, change, 'head -c 2000000 /dev/zero >> made.bin');
    expect(filled).toMatchObject(full);
    for (let at = 0; at < 3; at++) {
      const code = await cell.failure('change::begin').then(
        ({ code: given }) => given,
        () => 'begun',
      );
      expect(['W216', 'begun']).toContain(code);
    }
    expect(treeOf(cell.workspace)).toEqual(before);
    for (const { change: name } of await listed(cell)) await cell.call('change::discard', { change: name });
    const [store] = readdirSync(cell.dir.path('state/changes'));
    await expect.poll(() => readdirSync(cell.dir.path(`state/changes/${store}`))).toEqual(['.workspace']);
    expect(await cell.sh(await cell.begin(), 'echo new > a.txt; cat a.txt')).toBe('new\n');
  });

  test('a commit that does not fit is taken back whole, names the file, and the change stays open', async () => {
    let disk: Disposable | undefined;
    const prepare: Prepare = (dir) => {
      disk = smallDisk(dir.path('ws'), ROOM);
      writeFileSync(dir.path('ws/a.txt'), 'old\n');
      writeFileSync(dir.path('ws/gone.txt'), 'old\n');
    };
    await using cell = await changeCell({}, { prepare });
    using mounted = disk!;
    expect(mounted).toBeDefined();
    const before = treeOf(cell.workspace);
    const change = await cell.begin();
    await cell.sh(change, `echo new > a.txt; rm gone.txt; head -c ${2 * ROOM} /dev/zero > z-large.bin`);
    const failure = await cell.failure('change::commit', { change });
    expect(failure).toMatchObject({ code: 'W216', message: expect.stringMatching(/z-large\.bin.*ENOSPC/) });
    expect(treeOf(cell.workspace)).toEqual(before);
    await cell.sh(change, 'rm z-large.bin');
    // A reverted file is not a conflict, and a write of another program into it is one.
    expect(await cell.call('change::diff', { change })).toMatchObject({ conflicts: [] });
    writeFileSync(cell.at('a.txt'), 'theirs\n');
    const refused = await cell.failure('change::commit', { change });
    expect(refused).toMatchObject({ code: 'W213', conflicts: [{ path: 'a.txt', kind: 'both-changed' }] });
    expect(await cell.call('change::commit', { change, on_conflict: 'mine' })).toMatchObject({ closed: true });
    expect(readdirSync(cell.workspace)).toEqual(['a.txt']);
    expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('new\n');
  });
});

type Prepare = NonNullable<NonNullable<Parameters<typeof changeCell>[1]>['prepare']>;

/** Replaces a file as soon as a commit has begun to write its files into the workspace. */
const OTHER = `
  const fs = require('node:fs');
  const [workspace] = process.argv.slice(1);
  const seen = fs.watch(workspace, (_, name) => {
    if (!String(name).startsWith('.workcell-')) return;
    seen.close();
    fs.writeFileSync(workspace + '/z.txt', 'theirs, and longer\\n');
  });
  console.log('watches');`;

test.skipIf(process.platform !== 'linux')(
  'a commit is taken back whole if another program changes a file of it meanwhile, and names that file',
  async () => {
    const count = rounds(60, 300, 300);
    const names = Array.from({ length: count }, (_, at) => `f${at}.txt`);
    const found = { refused: 0, made: 0 };
    for (let round = 0; round < 100 && found.refused === 0; round++) {
      await using cell = await changeCell(Object.fromEntries([...names, 'z.txt'].map((name) => [name, 'old\n'])));
      const change = await cell.begin();
      await cell.sh(change, 'for name in *.txt; do echo mine > $name; done');
      const other = spawn(process.execPath, ['-e', OTHER, cell.workspace], { stdio: ['ignore', 'pipe', 'inherit'] });
      try {
        await once(other.stdout, 'data');
        const outcome = await cell.call('change::commit', { change }).then(() => undefined, asFailure);
        if (outcome === undefined) found.made++;
        else {
          found.refused++;
          expect(outcome).toMatchObject({ code: 'W216', message: expect.stringContaining('z.txt') });
        }
        const rest = outcome === undefined ? 'mine\n' : 'old\n';
        for (const name of names) expect(readFileSync(cell.at(name), 'utf8')).toBe(rest);
        expect((await listed(cell)).length).toBe(outcome === undefined ? 0 : 1);
        if (outcome === undefined) continue;
        expect(readFileSync(cell.at('z.txt'), 'utf8')).toBe('theirs, and longer\n');
        expect(readdirSync(cell.workspace).filter((name) => name.startsWith('.'))).toEqual([]);
        expect(await cell.failure('change::commit', { change })).toMatchObject({ code: 'W213' });
        await cell.call('change::commit', { change, on_conflict: 'mine' });
        expect(readFileSync(cell.at('z.txt'), 'utf8')).toBe('mine\n');
      } finally {
        other.kill();
      }
    }
    expect(found.refused).toBeGreaterThan(0);
  },
);

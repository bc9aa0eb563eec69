/** A change of many entries that fails halfway reports the entries it had changed until then. */
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { Change } from '#protocol';
import { tempDir, type TempDir } from '#testing';
import { HostError } from '../host-error.ts';
import { openAbsoluteJail } from '../jail/jail.ts';
import { JailChanges, type Caller } from './jail-changes.ts';
import type { NoteChange } from './note-change.ts';

const { signal } = new AbortController();
const isRoot = process.geteuid?.() === 0;
const STRANGER = 1234;

/** Runs the work as a user without root rights: permission bits do not restrict root. */
async function asStranger<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return await work();
  process.seteuid!(STRANGER);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  async function toldBy(
    roots: readonly string[],
    change: (changes: JailChanges, caller: Caller & { noteChange: NoteChange }) => Promise<unknown>,
  ): Promise<Change[]> {
    const reported: Change[] = [];
    const changes = new JailChanges(openAbsoluteJail(roots, { mode }), { isSynced: true });
    const caller = { throwIfAborted() {}, noteChange: (part: Change) => void reported.push(part) };
    await expect(asStranger(() => change(changes, caller))).rejects.toThrow(HostError);
    return reported;
  }

  function setModes(dir: TempDir, modes: Record<string, number>): void {
    chmodSync(dir.root, 0o755);
    for (const [name, bits] of Object.entries(modes)) chmodSync(dir.path(name), bits);
  }

  test('rm reports the removed entries', async () => {
    await using dir = await tempDir({ 'ws/d/e/f': '' });
    setModes(dir, { ws: 0o555, 'ws/d': 0o777, 'ws/d/e': 0o777 });
    const reported = await toldBy([dir.root], (changes, caller) =>
      changes.onEntry(dir.path('ws'), caller, (entry) => changes.remove(entry, { recursive: true, signal })),
    );
    setModes(dir, { ws: 0o755 });
    expect(readdirSync(dir.path('ws'), { recursive: true })).toEqual(['d']);
    expect(reported).toEqual([
      { path: dir.path('ws/d/e/f'), kind: 'deleted' },
      { path: dir.path('ws/d/e'), kind: 'deleted', is_directory: true },
    ]);
  });

  test.skipIf(!isRoot)('chmod reports the changed entries', async () => {
    await using dir = await tempDir({ 'ws/d/f': '' });
    chmodSync(dir.root, 0o755);
    for (const name of ['ws', 'ws/d']) chownSync(dir.path(name), STRANGER, STRANGER);
    const reported = await toldBy([dir.root], (changes, caller) =>
      changes.onEntry(dir.path('ws'), caller, (entry) =>
        changes.setPermissions(entry, { mode: 0o700 }, { recursive: true, signal }),
      ),
    );
    expect(['ws', 'ws/d', 'ws/d/f'].map((name) => statSync(dir.path(name)).mode & 0o777)).toEqual([
      0o700, 0o700, 0o644,
    ]);
    expect(reported).toEqual(['ws', 'ws/d'].map((name) => ({ path: dir.path(name), kind: 'mode' })));
  });

  test('cp over a directory reports the copied entries; cp to a new path reports none and removes the copy', async () => {
    await using dir = await tempDir({ 'from/d/f': '', 'over/': '' });
    setModes(dir, { over: 0o777, 'from/d/f': 0o000 });
    chmodSync(dir.root, 0o777);
    const copy = (to: string) =>
      toldBy([dir.root], (changes, { noteChange }) =>
        changes.copy(dir.path('from'), dir.path(to), { overwrite: true, signal, refuse() {}, noteChange }),
      );
    expect(await copy('over')).toEqual([{ path: dir.path('over/d'), kind: 'created', is_directory: true }]);
    expect(await copy('new')).toEqual([]);
    expect(readdirSync(dir.root)).toEqual(['from', 'over']);
  });

  test.runIf(existsSync('/dev/shm'))('mv to another device reports a copy whose source stays', async ({ skip }) => {
    await using dir = await tempDir({ 'ws/f': 'text' });
    const shm = mkdtempSync('/dev/shm/workcell-');
    try {
      if (statSync(shm).dev === statSync(dir.root).dev) skip('/dev/shm is on the same device');
      setModes(dir, { ws: 0o555 });
      chmodSync(shm, 0o777);
      writeFileSync(`${shm}/over`, 'old');
      chmodSync(`${shm}/over`, 0o666);
      const move = (to: string) =>
        toldBy([dir.root, shm], (changes, { noteChange }) =>
          changes.rename(dir.path('ws/f'), `${shm}/${to}`, { overwrite: true, signal, noteChange }),
        );
      expect(await move('f')).toEqual([{ path: `${shm}/f`, kind: 'created' }]);
      expect(await move('over')).toEqual([{ path: `${shm}/over`, kind: 'modified' }]);
      setModes(dir, { ws: 0o755 });
      expect([readdirSync(dir.path('ws')), readdirSync(shm)]).toEqual([['f'], ['f', 'over']]);
    } finally {
      rmSync(shm, { recursive: true });
    }
  });
});

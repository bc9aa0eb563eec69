import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { tempDir, type TempDir } from '#testing';
import { toText } from '../text/byte-string.ts';
import { HostError } from '../host-error.ts';
import { JailChanges } from '../changes/jail-changes.ts';
import { openAbsoluteJail, type Jail } from './jail.ts';
import { pathHint } from './nearest-path.ts';

const HIDDEN = /(^|\/)(\.env|secret)(\/|$)/;
const scope = { signal: new AbortController().signal };

/** The reason in words; undefined if it works. */
function reasonOf(work: () => Disposable): string | undefined {
  try {
    work()[Symbol.dispose]();
    return undefined;
  } catch (error) {
    return error instanceof HostError ? `${error.reason}: ${error.message}` : String(error);
  }
}

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const jailOn = (dir: TempDir, name: string): Jail => {
    const isHidden = (path: string) => HIDDEN.test(path);
    return openAbsoluteJail([dir.path(name)], { mode, isHidden, from: dir.path(name) });
  };

  test('a hidden path behaves like a missing one, by any path to it', async () => {
    const ordinary = {
      'd/f': 'text',
      link: { symlink: '.env' },
      dirlink: { symlink: 'd' },
      inner: { symlink: 'secret/d' },
    };
    const all = (root: string, entries: object) =>
      Object.fromEntries(Object.entries(entries).map(([name, entry]) => [`${root}/${name}`, entry as string]));
    await using dir = await tempDir({
      ...all('with', { ...ordinary, '.env': 'x', 'd/.env': { symlink: 'f' }, 'secret/d/f': 'x' }),
      ...all('without', ordinary),
    });
    const [jail, bare] = [jailOn(dir, 'with'), jailOn(dir, 'without')];
    const paths = [
      '.env',
      './.env',
      'd/../.env',
      '.env/x',
      '.env/..',
      'link',
      'link/x',
      'd/.env',
      'd/.env/x',
      'dirlink/.env',
    ];
    for (const path of [...paths, 'secret', 'secret/d', 'secret/d/f', 'inner', 'inner/f', 'secret/../d/f']) {
      for (const kind of ['open', 'openDir', 'entry', 'target'] as const) {
        const reason = reasonOf(() => jail[kind](path));
        expect([path, kind, reason]).toEqual([path, kind, reasonOf(() => bare[kind](path))]);
      }
      expect(jail.resolveTarget(path).replace('/with', '')).toBe(bare.resolveTarget(path).replace('/without', ''));
    }
    using entry = jail.entry('.env');
    expect(entry.stat).toBeUndefined();
    expect(() => entry.act(() => {})).toThrow(expect.objectContaining({ reason: 'hidden' }));
  });

  test('it is not listed or statted, is left out of copies, and makes rm and mv fail', async () => {
    await using dir = await tempDir({
      'ws/d/.env': 'x',
      'ws/d/f': '',
      'ws/d/secret/g': '',
      'ws/e/f': '',
      'ws/e/secret/': '',
    });
    const jail = jailOn(dir, 'ws');
    const changes = new JailChanges(jail, { isSynced: false });
    using folder = jail.openDir('d');
    expect([...folder.names()].flat().map(toText)).toEqual(['f']);
    expect([...folder.entries()].flat().map(({ name }) => toText(name))).toEqual(['f']);
    const [hidden] = [...folder.allNames()].flat().filter((name) => toText(name) === '.env');
    expect(folder.lstat(hidden!)).toBeUndefined();
    expect(() => folder.openFile(hidden!)).toThrow(expect.objectContaining({ reason: 'missing' }));

    const remove = changes.onEntry('d', scope.signal, (entry) => changes.remove(entry, { recursive: true, ...scope }));
    await expect(remove).rejects.toMatchObject({ reason: 'hidden' });
    await expect(changes.rename('d', 'other', { overwrite: false, ...scope })).rejects.toMatchObject({
      reason: 'hidden',
    });
    const options = { overwrite: true, ...scope, refuse: () => {} };
    await changes.copy('d', 'copy', options);
    expect(readdirSync(dir.path('ws/copy'))).toEqual(['f']);
    await expect(changes.copy('e/f', '.env', options)).rejects.toMatchObject({ reason: 'hidden' });
    await expect(changes.copy('e', 'secret', options)).rejects.toMatchObject({ reason: 'hidden' });
    expect(readFileSync(dir.path('ws/d/.env'), 'utf8')).toBe('x');
  });

  test('a copy to a path that would be hidden is refused', async () => {
    await using dir = await tempDir({ 'ws/a/x': 'new', 'ws/b/x': 'old', 'ws/b/y': '' });
    const isHidden = (path: string) => path.endsWith('/b/x');
    const changes = new JailChanges(openAbsoluteJail([dir.path('ws')], { mode, isHidden, from: dir.path('ws') }), {
      isSynced: false,
    });
    const options = { overwrite: true, ...scope, refuse: () => {} };
    await expect(changes.copy('a', 'b', options)).rejects.toMatchObject({ reason: 'hidden' });
    expect(readFileSync(dir.path('ws/b/x'), 'utf8')).toBe('old');
  });

  test('a suggestion never names it', async () => {
    await using dir = await tempDir({ 'ws/.env': '', 'ws/secret/sauce': '', 'ws/notes': '' });
    const jail = jailOn(dir, 'ws');
    const hint = (path: string) => pathHint(new HostError('missing', path), jail);
    expect(['.evn', '.env', 'secret/sauc', 'sauce', 'secre', 'note'].map(hint)).toEqual([
      ...['', '', '', '', ''],
      '; did you mean notes?',
    ]);
  });
});

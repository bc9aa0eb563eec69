/**
 * Attacks on the view of a change: links that leave it, and names that another process swaps for such links. The file of
 * the workspace has the same name as the one in the view, so a jail that only compares names would be deceived.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { layersOf } from '#host';
import { changeCell, rounds, type ChangeCell } from '#testing';
import { whileSwapping } from '../jail/jail-swapper.ts';

const ROUNDS = rounds(1000, 20_000, 200_000);

interface Place {
  readonly cell: ChangeCell;
  readonly change: string;
  /** The view as another process reaches it. */
  readonly view: string;
  readonly lease: Disposable;
}

/** In the view `a/b/f.txt` is "inside"; in the workspace and outside it is SECRET. */
async function opened(cell: ChangeCell): Promise<Place> {
  const change = await cell.begin();
  const lease = await layersOf(cell.workspace, { state_dir: cell.dir.path('state') })!.enter(change);
  const view = `/proc/${process.pid}/fd/${lease.layer.mounted.view.fd}`;
  mkdirSync(`${view}/a/b`, { recursive: true });
  writeFileSync(`${view}/a/b/f.txt`, 'inside');
  mkdirSync(cell.at('a/b'), { recursive: true });
  writeFileSync(cell.at('a/b/f.txt'), 'SECRET of the workspace');
  mkdirSync(cell.dir.path('outside/b'), { recursive: true });
  writeFileSync(cell.dir.path('outside/b/f.txt'), 'SECRET outside');
  return { cell, change, view, lease };
}

describe.skipIf(process.platform !== 'linux')('the view of a change', () => {
  test('change.A18 links and paths that leave the view are refused', async () => {
    await using cell = await changeCell({ 'plain.txt': 'SECRET' });
    const { change, view, lease } = await opened(cell);
    using taken = lease;
    expect(taken).toBeDefined();
    const targets = [
      cell.at('a/b/f.txt'),
      cell.workspace,
      '/etc/hostname',
      '../outside/b/f.txt',
      `${'../'.repeat(20)}etc/hostname`,
      `/proc/self/fd/0/../../..${cell.workspace}/plain.txt`,
      `/proc/${process.pid}/root${cell.workspace}/plain.txt`,
    ];
    let refused = 0;
    for (const [at, target] of targets.entries()) {
      symlinkSync(target, `${view}/link${at}`);
      for (const path of [`link${at}`, `a/../link${at}`, `link${at}/b/f.txt`, `link${at}/plain.txt`]) {
        for (const [id, request] of [
          ['coder::read-file', { path }],
          ['coder::list-folder', { path }],
          ['coder::create-file', { files: [{ path, content: 'pwned', overwrite: true }] }],
          ['filesystem::read', { path: cell.at(path) }],
          ['shell::fs::ls', { path: cell.at(path) }],
        ] as const) {
          const text = await cell.call(id, { ...request, change }).then(JSON.stringify, String);
          expect(text).not.toContain('SECRET');
          expect(text).not.toMatch(/"success":true|"entries"/);
          refused++;
        }
      }
    }
    for (const path of ['../outside/b/f.txt', '../ws/plain.txt', 'a/../../ws/plain.txt']) {
      expect(await cell.failure('coder::read-file', { path, change })).toMatchObject({ code: 'C215' });
    }
    expect(refused).toBe(140);
    expect(readFileSync(cell.at('plain.txt'), 'utf8')).toBe('SECRET');
    expect(readFileSync(cell.dir.path('outside/b/f.txt'), 'utf8')).toBe('SECRET outside');
  });

  test.each([
    ['the folder above, for the one of the workspace', 'a/b', 'a/evil', 'ws/a/b'],
    ['the folder above, for one outside', 'a/b', 'a/evil', 'outside/b'],
    ['the file itself, for the one of the workspace', 'a/b/f.txt', 'a/b/evil', 'ws/a/b/f.txt'],
  ] as const)(
    'change.A18 a name that is swapped for a link out: %s',
    async (_, name, link, target) => {
      await using cell = await changeCell();
      const { change, view, lease } = await opened(cell);
      using taken = lease;
      expect(taken).toBeDefined();
      symlinkSync(cell.dir.path(target), `${view}/${link}`);
      const counts = { inside: 0, refused: 0, leaked: 0 };
      await whileSwapping([`${view}/${name}`, `${view}/${link}`], async () => {
        for (let round = 0; round < ROUNDS || (round < 50 * ROUNDS && !(counts.inside && counts.refused)); round++) {
          const isWrite = round % 4 === 3;
          const text = await (
            isWrite
              ? cell.call('coder::create-file', {
                  change,
                  files: [{ path: 'a/b/f.txt', content: 'inside', overwrite: true }],
                })
              : cell.call('coder::read-file', { change, path: 'a/b/f.txt' })
          ).then(JSON.stringify, String);
          if (text.includes('SECRET')) counts.leaked++;
          else if (text.includes('"content":"inside"') || text.includes('"success":true')) counts.inside++;
          else counts.refused++;
        }
      });
      console.log(`${name} swapped for a link to ${target}:`, counts);
      expect(counts.leaked).toBe(0);
      expect(counts.inside).toBeGreaterThan(0);
      expect(counts.refused).toBeGreaterThan(0);
      expect(readFileSync(cell.at('a/b/f.txt'), 'utf8')).toBe('SECRET of the workspace');
      expect(readFileSync(cell.dir.path('outside/b/f.txt'), 'utf8')).toBe('SECRET outside');
    },
    rounds(600_000, 600_000, 7_200_000),
  );
});

/** The reports of every `FileSystem` about its changes, for a scope that wants them. */
import { expect, test } from 'vitest';

import type { Change } from '#protocol';
import { scope, stream, type Given, type Within } from './file-system-given.contract.ts';

/** Reported paths are relative to the directory of the test. */
function reporting(given: Given) {
  const found: Change[] = [];
  const short = (path: string) => path.replace(given.at('x').slice(0, -1), '');
  const noteChange = ({ from, ...change }: Change) =>
    void found.push({ ...change, path: short(change.path), ...(from !== undefined && { from: short(from) }) });
  return { found, scope: { ...scope, noteChange } };
}

export function describeReports(within: Within): void {
  test(
    'bus.P19 a written file is reported with its versions before and after, unless it is unchanged',
    within({ old: 'one\ntwo\n', binary: '\0' }, async (given) => {
      const { found, scope: wanting } = reporting(given);
      await given.link('old', 'link');
      const put = (path: string, ...pieces: string[]) =>
        given.files.write(given.at(path), stream(pieces), { parents: true }, wanting);
      await put('a/new', 'x', 'y\n');
      await put('link', 'one\n', '2\n');
      await put('old', 'one\n2\n');
      await put('binary', '\0\0');
      await put('large', 'z'.repeat(300_000));
      expect(found).toEqual([
        {
          path: 'a/new',
          kind: 'created',
          after: { bytes: 3, version: expect.any(String) },
          hunks: [{ before_line: 1, after_line: 1, lines: ['+xy'] }],
        },
        {
          path: 'link',
          kind: 'modified',
          before: { bytes: 8, version: expect.any(String) },
          after: { bytes: 6, version: expect.any(String) },
          hunks: [{ before_line: 1, after_line: 1, lines: [' one', '-two', '+2'] }],
        },
        {
          path: 'binary',
          kind: 'modified',
          before: { bytes: 1, version: expect.any(String) },
          after: { bytes: 2, version: expect.any(String) },
        },
        { path: 'large', kind: 'created', after: { bytes: 300_000 } },
      ]);
    }),
  );

  test(
    'reports created, moved, removed and chmodded entries, and none for a refused change',
    within({ f: 'x\n', 'tree/leaf': 'x', gone: 'x\n' }, async (given) => {
      const { found, scope: wanting } = reporting(given);
      const edit = { pattern: 'x', replacement: 'y', isRegex: false, firstOnly: false, ignoreCase: false };
      await given.files.mkdir(given.at('made'), { mode: 0o755, parents: true }, wanting);
      await given.files.mkdir(given.at('made'), { mode: 0o755, parents: true }, wanting);
      await given.files.sed({ ...edit, where: { files: [given.at('f')] } }, wanting);
      await given.files.chmod(given.at('tree'), { mode: 0o700, recursive: true }, wanting);
      await given.files.mv(given.at('tree'), given.at('moved'), { overwrite: false }, wanting);
      await given.files.rm(given.at('gone'), { recursive: false }, wanting);
      await given.files.rm(given.at('moved'), { recursive: true }, wanting);
      await expect(given.files.rm(given.at('nothing'), { recursive: true }, wanting)).rejects.toThrow();
      await expect(given.files.mv(given.at('nothing'), given.at('f'), { overwrite: true }, wanting)).rejects.toThrow();

      const content = { bytes: 2, version: expect.any(String) };
      const hunk = { before_line: 1, after_line: 1 };
      expect(found).toEqual([
        { path: 'made', kind: 'created', is_directory: true },
        { path: 'f', kind: 'modified', before: content, after: content, hunks: [{ ...hunk, lines: ['-x', '+y'] }] },
        { path: 'tree', kind: 'mode' },
        { path: 'moved', kind: 'renamed', from: 'tree', is_directory: true },
        { path: 'gone', kind: 'deleted', before: content, hunks: [{ ...hunk, lines: ['-x'] }] },
        { path: 'moved', kind: 'deleted', is_directory: true },
      ]);
    }),
  );
}

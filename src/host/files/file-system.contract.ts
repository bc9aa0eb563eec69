/**
 * Contract tests for every `FileSystem`, wherever its files are.
 *
 * Files are made and read by the operations themselves, so that the suite runs against a machine it cannot reach
 * otherwise. Only symlinks are made by the suite that runs it.
 */
import { describe, expect, test } from 'vitest';

import { FileFault } from './file-fault.ts';
import { describeGrep, describeSed } from './file-system-text.contract.ts';
import { describeReports } from './file-system-reports.contract.ts';
import { Given, reasonOf, scope, stream, type FileSystemUnderTest, type Within } from './file-system-given.contract.ts';

export function describeFileSystem(name: string, open: () => Promise<FileSystemUnderTest>): void {
  describe(name, () => {
    /** Runs with files of these contents; a name that ends in `/` is a directory. */
    const within = (entries: Record<string, string>, work: (given: Given) => Promise<void>) => async () => {
      await using tested = await open();
      const given = new Given(tested);
      for (const [path, content] of Object.entries(entries)) {
        if (path.endsWith('/')) await given.files.mkdir(given.at(path), { mode: 0o755, parents: true }, scope);
        else await given.write(path, content);
      }
      await work(given);
    };

    describeContent(within);
    describeEntries(within);
    describeChanges(within);
    describeGrep(within);
    describeSed(within);
    describeReports(within);
  });
}

function describeContent(within: Within): void {
  test(
    'what was written is read, with its size',
    within({}, async (given) => {
      const beforeSecs = Date.now() / 1000;
      expect(await given.write('d/f', 'é', '', '\0\r\n')).toBe(5);
      expect(await given.read('d/f')).toBe('é\0\r\n');
      const file = await given.files.read(given.at('d/f'), scope);
      file.close();
      expect([file.sizeBytes, file.mode]).toEqual([5, 0o644]);
      // The clock of a guest may be behind.
      expect(file.mtimeSecs).toBeGreaterThan(beforeSecs - 600);
      expect(file.mtimeSecs).toBeLessThan(Date.now() / 1000 + 600);
    }),
  );

  test(
    'an empty file has no bytes',
    within({ f: '' }, async (given) => expect(await given.read('f')).toBe('')),
  );

  test(
    'more than fits into a piece comes whole',
    within({}, async (given) => {
      const text = '0123456789'.repeat(100_000);
      await given.write('f', text.slice(0, 333_333), text.slice(333_333));
      expect((await given.read('f')) === text).toBe(true);
    }),
  );

  test(
    'only a file can be read',
    within({ 'd/': '' }, async (given) => {
      expect(await reasonOf(given.read('gone'))).toBe('missing');
      expect(await reasonOf(given.read('d'))).toBe('not-a-file');
    }),
  );

  test(
    'a write that fails leaves the old file and no temporary file',
    within({ f: 'old' }, async (given) => {
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('half');
        throw new FileFault('stream', 'broken');
      }
      for (const path of ['f', 'new']) {
        const writing = given.files.write(given.at(path), broken(), { parents: false }, scope);
        expect(await reasonOf(writing)).toBe('stream');
      }
      expect([await given.read('f'), await given.names()]).toEqual(['old', ['f']]);
    }),
  );

  test(
    'a write creates directories only with parents, and keeps or sets the mode',
    within({ f: '' }, async (given) => {
      const put = (path: string, options: { mode?: number; parents: boolean }) =>
        given.files.write(given.at(path), stream(['x']), options, scope);
      expect(await reasonOf(put('a/b/f', { parents: false }))).toBe('missing');
      await put('a/b/f', { parents: true, mode: 0o640 });
      await given.files.chmod(given.at('f'), { mode: 0o751, recursive: false }, scope);
      await put('f', { parents: false });
      expect([await given.mode('a/b/f'), await given.mode('f')]).toEqual(['640', '751']);
      expect(await reasonOf(put('a/b', { parents: false }))).toBe('io');
    }),
  );
}

function describeEntries(within: Within): void {
  test(
    'a directory is listed in byte order of the names, without following symlinks',
    within({ b: '12345', B: '', 'a/x': '', '.h': '', é: '' }, async (given) => {
      await given.link('b', 'link');
      await given.link('nothing', 'dangling');
      const { entries, isTruncated } = await given.files.ls(given.at(''), scope);
      expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
        '.h file',
        'B file',
        'a directory',
        'b file',
        'dangling symlink',
        'link symlink',
        'é file',
      ]);
      expect([entries[3]!.sizeBytes, isTruncated]).toEqual([5, false]);
      expect(await reasonOf(given.files.ls(given.at('b'), scope))).toBe('not-a-directory');
      expect(await reasonOf(given.files.ls(given.at('gone'), scope))).toBe('missing');
    }),
  );

  test(
    'stat reports the named entry and does not follow a symlink',
    within({ 'd/f': '1' }, async (given) => {
      await given.link('d/f', 'link');
      const statOf = async (path: string) => {
        const { name, kind, sizeBytes } = await given.files.stat(given.at(path), scope);
        return [name, kind, kind === 'file' ? sizeBytes : '-'];
      };
      expect(await statOf('d/f')).toEqual(['f', 'file', 1]);
      expect(await statOf('d')).toEqual(['d', 'directory', '-']);
      expect(await statOf('link')).toEqual(['link', 'symlink', '-']);
      expect(await reasonOf(statOf('gone'))).toBe('missing');
    }),
  );
}

function describeChanges(within: Within): void {
  test(
    'mkdir returns whether it created a directory',
    within({ f: '' }, async (given) => {
      const make = (path: string, parents: boolean, mode = 0o755) =>
        given.files.mkdir(given.at(path), { mode, parents }, scope);
      expect(await reasonOf(make('a/b', false))).toBe('missing');
      expect(await make('a/b', true, 0o711)).toBe(true);
      expect(await make('a/b', true)).toBe(false);
      expect(await given.mode('a/b')).toBe('711');
      expect(await reasonOf(make('a/b', false))).toBe('exists');
      expect(await reasonOf(make('f', true))).toBe('exists');
    }),
  );

  test(
    'rm removes a file, an empty directory or a symlink itself, and a tree only with recursive',
    within({ 'd/x/y': '', f: '', 'empty/': '' }, async (given) => {
      await given.link('d', 'link');
      const remove = (path: string, recursive = false) => given.files.rm(given.at(path), { recursive }, scope);
      expect(await reasonOf(remove('d'))).toBe('not-empty');
      await remove('link', true);
      await remove('f');
      await remove('empty');
      expect(await given.names()).toEqual(['d']);
      await remove('d', true);
      expect(await given.names()).toEqual([]);
      expect(await reasonOf(remove('d', true))).toBe('missing');
    }),
  );

  test(
    'chmod follows a symlink, and recursively changes all but symlinks',
    within({ 'tree/sub/leaf': '', f: '' }, async (given) => {
      await given.link('f', 'link');
      await given.link('../f', 'tree/up');
      const change = (path: string, mode: number, recursive = false) =>
        given.files.chmod(given.at(path), { mode, recursive }, scope);
      expect(await change('link', 0o640)).toBe(1);
      expect(await change('tree', 0o700, true)).toBe(3);
      expect(await Promise.all(['tree', 'tree/sub', 'tree/sub/leaf', 'f'].map((path) => given.mode(path)))).toEqual([
        '700',
        '700',
        '700',
        '640',
      ]);
      expect(await reasonOf(change('link', 0o777, true))).toBe('not-a-directory');
      expect(await reasonOf(change('gone', 0o777))).toBe('missing');
    }),
  );

  test(
    'mv moves the named entry, and replaces another only with overwrite',
    within({ a: 'a', b: 'b', 'd/x': '' }, async (given) => {
      const move = (from: string, to: string, overwrite = false) =>
        given.files.mv(given.at(from), given.at(to), { overwrite }, scope);
      await expect(move('gone', 'x')).rejects.toMatchObject({ reason: 'missing', path: given.at('gone') });
      await expect(move('a', 'b')).rejects.toMatchObject({ reason: 'exists', path: given.at('b') });
      await expect(move('a', 'no/b')).rejects.toMatchObject({ reason: 'missing', path: given.at('no/b') });
      expect(await reasonOf(move('a', 'd', true))).toBe('io');
      await move('a', 'b', true);
      await move('d', 'moved');
      expect([await given.names(), await given.read('b')]).toEqual([['b', 'moved'], 'a']);
    }),
  );
}

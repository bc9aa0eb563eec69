/** Archives as Linux reads them: the fields by hand, the whole by another program. */
import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { tempDir, whyNoGuestRoot } from '#testing';
import { cpioArchive, FILE_TYPE } from './cpio.ts';

const ENTRIES = [
  { path: 'dev', mode: FILE_TYPE.directory | 0o755 },
  { path: 'dev/console', mode: FILE_TYPE.characterDevice | 0o600, device: { major: 5, minor: 1 } },
  { path: 'init', mode: FILE_TYPE.file | 0o755, content: Buffer.from('hello') },
];

test('every entry is a header of fourteen fields, its name and its content, each to the next four bytes', () => {
  expect(fieldsOf(cpioArchive(ENTRIES))).toEqual([
    { inode: 1, mode: 0o40755, links: 2, size: 0, device: '0:0', name: 'dev', content: '', others: 0 },
    { inode: 2, mode: 0o20600, links: 1, size: 0, device: '5:1', name: 'dev/console', content: '', others: 0 },
    { inode: 3, mode: 0o100755, links: 1, size: 5, device: '0:0', name: 'init', content: 'hello', others: 0 },
    { inode: 0, mode: 0, links: 1, size: 0, device: '0:0', name: 'TRAILER!!!', content: '', others: 0 },
  ]);
});

test('the same entries give the same bytes', () => {
  expect(cpioArchive(ENTRIES).equals(cpioArchive(ENTRIES))).toBe(true);
});

test.skipIf(whyNoGuestRoot())('another program unpacks it', async () => {
  await using dir = await tempDir();
  const files = ENTRIES.filter(({ device }) => device === undefined);
  execFileSync('busybox', ['cpio', '-i'], {
    cwd: dir.root,
    input: cpioArchive(files),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const listed = execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P %m %s\n'], { cwd: dir.root }).toString();
  expect(listed.trim().split('\n').sort()).toEqual([expect.stringMatching(/^dev 755 \d+$/), 'init 755 5']);
});

/** As the format has it, field by field. */
function fieldsOf(archive: Buffer): object[] {
  const rows: object[] = [];
  for (let at = 0; at < archive.length;) {
    expect(archive.toString('latin1', at, at + 6)).toBe('070701');
    const field = (index: number) =>
      Number.parseInt(archive.toString('latin1', at + 6 + index * 8, at + 14 + index * 8), 16);
    const [inode, mode, uid, gid, links, time, size, ...devices] = Array.from({ length: 11 }, (_, index) =>
      field(index),
    );
    const nameEnd = at + 110 + field(11);
    const name = archive.toString('latin1', at + 110, nameEnd - 1);
    const start = (nameEnd + 3) & ~3;
    const content = archive.toString('latin1', start, start + size!);
    const others = [uid, gid, time, devices[0], devices[1], field(12)].reduce((sum, value) => sum! + value!, 0);
    rows.push({ inode, mode, links, size, device: `${devices[2]}:${devices[3]}`, name, content, others });
    at = (start + size! + 3) & ~3;
  }
  return rows;
}

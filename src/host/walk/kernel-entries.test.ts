import { expect, test } from 'vitest';

import { entriesIn } from './kernel-entries.ts';

const [UNKNOWN, PIPE, DIRECTORY, FILE, LINK] = [0, 1, 4, 8, 10] as const;

/** As the kernel writes it: padded to eight bytes. */
function entry(type: number, name: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil((19 + name.length + 1) / 8) * 8);
  bytes.writeUInt16LE(bytes.length, 16);
  bytes[18] = type;
  bytes.write(name, 19, 'latin1');
  return bytes;
}

test('files and directories are listed, and types that the file system leaves out come from stat', () => {
  const long = 'n'.repeat(255);
  const bytes = Buffer.concat([
    entry(DIRECTORY, '.'),
    entry(DIRECTORY, '..'),
    entry(FILE, 'f'),
    entry(DIRECTORY, '..d'),
    entry(LINK, 'link'),
    entry(PIPE, 'pipe'),
    entry(UNKNOWN, 'asked'),
    entry(UNKNOWN, 'gone'),
    entry(FILE, 'not \xff text'),
    entry(FILE, long),
  ]);
  const asked: string[] = [];
  const entries = entriesIn(bytes, (name) => {
    asked.push(name);
    return name === 'asked' ? 'asked/' : undefined;
  });
  expect(entries).toEqual(['f', '..d/', 'asked/', 'not \xff text', long]);
  expect(asked).toEqual(['asked', 'gone']);
});

/** An entry of the file system in its wire form. */
import { z } from 'zod';

import { wire } from '#contract';
import type { FileInfo } from '#host';
import { spellMode } from './mode.ts';

export const entryFields = {
  name: z.string().describe('The last name of the path; bytes that are not UTF-8 are replaced by U+FFFD.'),
  is_dir: z.boolean(),
  size: wire.uint64().describe('Bytes of a file, or of the text that a link consists of.'),
  mode: z.string().describe('Permission bits in octal, four digits.'),
  mtime: wire.int64().describe('Last change in whole seconds since 1970.'),
  is_symlink: z.boolean().describe('True for a symlink; the other fields are those of the link itself.'),
};

export const FsEntry = wire.named('FsEntry', z.object(entryFields));

export function toEntry({ name, kind, sizeBytes, mode, mtimeSecs }: FileInfo): z.input<typeof FsEntry> {
  return {
    name,
    is_dir: kind === 'directory',
    size: sizeBytes,
    mode: spellMode(mode),
    mtime: mtimeSecs,
    is_symlink: kind === 'symlink',
  };
}

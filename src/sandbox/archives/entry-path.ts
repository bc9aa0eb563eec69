/** Turns names of an archive, which may be anything, into paths inside the target directory. */
import type { ByteString } from '#host';
import { ArchiveError } from './archive-error.ts';

/** The path of an entry without noise (`./`, doubled and final slashes); the root is empty. */
export function pathOf(name: ByteString, maxDepth: number): string {
  checkText(name);
  const names = name.split('/').filter((part) => part !== '' && part !== '.');
  if (name.startsWith('/') && names.length > 0) throw new ArchiveError(`${name} is an absolute path`);
  if (names.includes('..')) throw new ArchiveError(`${name} leaves the archive`);
  if (names.length > maxDepth) throw new ArchiveError(`a path is ${names.length} names deep; the limit is ${maxDepth}`);
  return names.join('/');
}

export function checkText(text: string): void {
  if (text.includes('\0')) throw new ArchiveError('a name in the archive holds a zero byte');
}

/** Summary of everything below a directory: entry count, bytes, and a checksum over names, modes, sizes and mtimes. */
import { lstatSync } from 'node:fs';
import { crc32 } from 'node:zlib';

import { visitBelow } from '../jail/jail-list.ts';
import type { JailDir } from '../jail/jail-dir.ts';
import type { ByteString } from '../text/byte-string.ts';
import type { EntryStat } from '../walk/entry-kind.ts';

export class TreeSum {
  #count = 0;
  #bytes = 0;
  #sum = 0;

  /** Adds an entry, in any order. `path` is relative to the directory. */
  add(path: string, { kind, mode, size, mtimeMs }: EntryStat): void {
    const isFile = kind === 'file';
    this.#count++;
    if (isFile) this.#bytes += size;
    const facts = kind === 'symlink' ? 'link' : isFile ? `${mode} ${size} ${Math.floor(mtimeMs)}` : `${kind} ${mode}`;
    this.#sum = (this.#sum + crc32(`${path}\0${facts}`)) % Number.MAX_SAFE_INTEGER;
  }

  get value(): string {
    return `${this.#count}:${this.#bytes}:${this.#sum.toString(36)}`;
  }
}

export function isEmptySum(contents: string): boolean {
  return contents.startsWith('0:');
}

/** The byte count in a sum. */
export function bytesIn(contents: string | undefined): number {
  return Number(contents?.split(':')[1] ?? 0);
}

interface SumScope {
  readonly signal: AbortSignal;
  /** If an entry was changed after this time, the sum gets a value that matches no directory. */
  readonly since?: number | undefined;
}

export async function sumBelow(dir: JailDir, scope: SumScope): Promise<string> {
  const sum = new TreeSum();
  const start = dir.relativePath === '' ? 0 : dir.relativePath.length + 1;
  const { since = Infinity } = scope;
  let isChanged = dir.stat.mtimeMs > since;
  await visitBelow(dir, scope, (parent, { name }) => {
    const stat = parent.lstat(name);
    if (stat) sum.add(parent.pathOf(name).slice(start), stat);
    if (since < Infinity) isChanged ||= isChangedAfter(since, parent, name);
    return 'go-on';
  });
  return isChanged ? `${sum.value}:changed` : sum.value;
}

/** The ctime of a file with other names changes with those too, so only its mtime counts. */
function isChangedAfter(since: number, parent: JailDir, name: ByteString): boolean {
  const stat = lstatSync(parent.pin.at(name), { throwIfNoEntry: false });
  if (!stat) return true;
  return (stat.isFile() && stat.nlink > 1 ? stat.mtimeMs : stat.ctimeMs) > since;
}

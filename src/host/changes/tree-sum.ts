/** Summary of everything below a directory: entry count, bytes, and a checksum over names, modes, sizes and mtimes. */
import { crc32 } from 'node:zlib';

import { visitBelow } from '../jail/jail-list.ts';
import type { JailDir } from '../jail/jail-dir.ts';
import type { EntryLook } from '../walk/entry-kind.ts';

export class TreeSum {
  #count = 0;
  #bytes = 0;
  #sum = 0;

  /** Adds an entry, in any order. `path` is relative to the directory. */
  add(path: string, { kind, mode, size, mtimeMs }: EntryLook): void {
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

export async function sumBelow(dir: JailDir, scope: { readonly signal: AbortSignal }): Promise<string> {
  const sum = new TreeSum();
  const start = dir.relativePath === '' ? 0 : dir.relativePath.length + 1;
  await visitBelow(dir, scope, (parent, { name }) => {
    const look = parent.look(name);
    if (look) sum.add(parent.pathOf(name).slice(start), look);
    return 'go-on';
  });
  return sum.value;
}

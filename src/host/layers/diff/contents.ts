/** Reads and compares the entries of a change. No symlink is followed: a command in the change may put one anywhere. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';

import { versionOf } from '../../changes/jail-version.ts';
import type { JailFile } from '../../jail/jail-file.ts';
import { piecesOf } from '../../text/read-pieces.ts';
import type { LayerEntry, LayerJails } from './touched-paths.ts';

/** An entry with the path to read it by. */
export interface PathEntry {
  readonly path: string;
  readonly entry: LayerEntry;
}

/** Larger files are compared and hashed piece by piece. */
const MAX_AT_ONCE = 4 * 2 ** 20;

/** A NUL byte this early makes a file binary. */
const PROBED_BYTES = 8192;

export class LayerContents {
  readonly #jails: LayerJails;

  constructor(jails: LayerJails) {
    this.#jails = jails;
  }

  open({ path, entry }: PathEntry): JailFile {
    using found = this.#jails[entry.in].entry(path);
    return found.open();
  }

  async read(one: PathEntry): Promise<Buffer> {
    using file = this.open(one);
    return await file.read();
  }

  /** Whether a large file has a NUL byte near its start. */
  isBinary(one: PathEntry): boolean {
    using file = this.open(one);
    const start = Buffer.alloc(Math.min(PROBED_BYTES, file.size));
    return start.subarray(0, file.readAt(start, 0)).includes(0);
  }

  /** Target of a symlink, as latin1: one char for each byte. */
  linkOf({ path, entry }: PathEntry): string {
    using found = this.#jails[entry.in].entry(path);
    return found.act((at) => readlinkSync(at, 'latin1'));
  }

  /** Version of the content; of a symlink that of its target. Null for an entry without content. */
  async version(one: PathEntry | undefined): Promise<string | null> {
    if (one?.entry.type === 'link') return versionOf(Buffer.from(this.linkOf(one), 'latin1'));
    if (one?.entry.type !== 'file') return null;
    if (one.entry.stat.size <= MAX_AT_ONCE) return versionOf(await this.read(one));
    using file = this.open(one);
    const sum = createHash('sha256');
    for await (const piece of piecesOf(file, one.path)) sum.update(piece);
    return `sha256:${sum.digest('hex')}`;
  }

  /** Whether two entries are of one type with the same content. Modes may differ. */
  async isSame(a: PathEntry | undefined, b: PathEntry | undefined): Promise<boolean> {
    if (!a || !b || a.entry.type !== b.entry.type) return !a && !b;
    if (a.entry.type === 'directory') return true;
    if (a.entry.type === 'link') return this.linkOf(a) === this.linkOf(b);
    if (a.entry.type !== 'file' || a.entry.stat.size !== b.entry.stat.size) return false;
    if (a.entry.stat.size > MAX_AT_ONCE) return await this.#isSameLarge(a, b);
    return (await this.read(a)).equals(await this.read(b));
  }

  async #isSameLarge(a: PathEntry, b: PathEntry): Promise<boolean> {
    using file = this.open(a);
    using other = this.open(b);
    let at = 0;
    for await (const piece of piecesOf(file, a.path)) {
      const same = Buffer.allocUnsafe(piece.length);
      if (other.readAt(same, at) !== piece.length || !same.equals(piece)) return false;
      at += piece.length;
    }
    return true;
  }
}

/** Undefined for a binary file. */
export function textOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, PROBED_BYTES).includes(0) || !isUtf8(bytes)) return undefined;
  return bytes.toString();
}

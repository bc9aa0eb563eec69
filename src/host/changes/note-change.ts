/**
 * Reports the changes of files to the call that made them.
 *
 * Only if the call asks for reports: comparing a file with its former content takes longer than changing it.
 */
import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';

import type { Change } from '#protocol';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { versionOf } from './jail-version.ts';
import { hunksOf } from './line-hunks.ts';

/** Receives the report of one change. */
export type NoteChange = (change: Change) => void;

/** A changed path; `stat` is from before the change, and undefined for a new file. */
export interface ChangedEntry {
  readonly path: string;
  readonly stat: Pick<Stats, 'size' | 'isFile' | 'isDirectory'> | undefined;
}

/** Larger files are reported by size, without a diff. */
export const MAX_COMPARED_BYTES = 256 * 1024;

export function isComparable(stat: ChangedEntry['stat']): boolean {
  return stat?.isFile() === true && stat.size <= MAX_COMPARED_BYTES;
}

/** Reads the content for the report; undefined if it is not a regular file or is too large. */
export async function comparable(entry: JailEntry): Promise<Uint8Array | undefined> {
  if (!isComparable(entry.stat)) return undefined;
  try {
    using file = entry.open();
    return await file.read();
  } catch (error) {
    // A file may be replaceable or removable without being readable.
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

/** Most changes that a call reports. */
const MAX_PARTS = 100;

/**
 * Runs a change of many entries that is reported as one. If it fails halfway, reports the entries changed until then
 * instead.
 */
export async function reportParts<T>(
  noteChange: NoteChange | undefined,
  work: (notePart: NoteChange | undefined) => Promise<T>,
): Promise<T> {
  if (!noteChange) return await work(undefined);

  const parts: Change[] = [];
  try {
    return await work((part) => void (parts.length < MAX_PARTS && parts.push(part)));
  } catch (error) {
    parts.forEach(noteChange);
    throw error;
  }
}

/** Collects the pieces of a stream for the diff; drops them once they are too large. */
export class ComparablePieces {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes <= MAX_COMPARED_BYTES) this.#pieces.push(Uint8Array.from(piece));
    else this.#pieces = [];
  }

  /** Passes the stream through and collects its pieces. */
  async *of(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      this.add(piece);
      yield piece;
    }
  }

  get all(): Uint8Array | { bytes: number } {
    return this.#bytes <= MAX_COMPARED_BYTES ? Buffer.concat(this.#pieces) : { bytes: this.#bytes };
  }
}

/** The report of a new or changed file; undefined if the content is the same. */
export function contentChange(
  { path, stat }: ChangedEntry,
  before: Uint8Array | undefined,
  after: Uint8Array | { bytes: number },
): Change | undefined {
  const isKnown = after instanceof Uint8Array;
  if (before && isKnown && Buffer.compare(before, after) === 0) return undefined;
  const change: Change = {
    path,
    kind: stat ? 'modified' : 'created',
    ...(stat && { before: before ? contentOf(before) : { bytes: stat.size } }),
    after: isKnown ? contentOf(after) : after,
  };
  const isCompared = isKnown && after.length <= MAX_COMPARED_BYTES && (before !== undefined || !stat);
  return isCompared ? { ...change, ...comparison(before, after) } : change;
}

export function removal({ path, stat }: ChangedEntry, before: Uint8Array | undefined): Change {
  const isDirectory = stat?.isDirectory() === true;
  const content = before ? contentOf(before) : { bytes: stat?.size ?? 0 };
  return {
    path,
    kind: 'deleted',
    ...(isDirectory ? { is_directory: true } : { before: content }),
    ...(before && comparison(before, undefined)),
  };
}

function comparison(before: Uint8Array | undefined, after: Uint8Array | undefined): Partial<Change> {
  const texts = [before, after].map((bytes) => (bytes === undefined ? '' : textOf(bytes)));
  if (texts.includes(undefined)) return {};
  const { hunks, isCut } = hunksOf(texts[0]!, texts[1]!);
  return { hunks, ...(isCut && { is_cut: true }) };
}

function textOf(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    : undefined;
}

function contentOf(bytes: Uint8Array): Change['before'] {
  return { bytes: bytes.length, version: versionOf(bytes) };
}

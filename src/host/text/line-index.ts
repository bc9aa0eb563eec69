/**
 * Finds where the lines of a file begin, without holding the file in memory.
 *
 * Newlines are counted block by block, only as far as requested. The count before each block is cached while the file
 * does not change, so that a later request reads one block.
 */
import type { Stats } from 'node:fs';

import { BLOCK_BYTES, LineBlock, type ByteSource } from './line-index-block.ts';
import { LruCache } from '../system/lru-cache.ts';
import { isSettled } from '../walk/stable-times.ts';
import { takeTurn } from '../system/take-turn.ts';

interface Scope {
  readonly signal: AbortSignal;
}

/** Reading these takes a few milliseconds, unless they come from the disk. */
const BLOCKS_AT_ONCE = 8;

/** Enough for a file of 1 TiB, or for thousands of smaller ones. */
const MAX_KEPT_BYTES = 9 << 20;

/** Cost of an index beside one number per block. */
const INDEX_BYTES = 512;

export class LineIndexes {
  readonly #kept = new LruCache<string, LineIndex>(MAX_KEPT_BYTES);

  /** The index of a file in its current state. */
  of({ stat }: { readonly stat: Stats }): LineIndex {
    const { dev, ino, size, mtimeMs, ctimeMs } = stat;
    const key = [dev, ino, size, mtimeMs, ctimeMs].join(':');
    const kept = this.#kept.get(key);
    if (kept) return kept;

    const index = new LineIndex();
    if (isSettled(stat)) this.#kept.set(key, index, INDEX_BYTES + 8 * Math.ceil(size / BLOCK_BYTES));
    return index;
  }
}

export class LineIndex {
  /** Newlines before each counted block, and before the first uncounted one. */
  readonly #newlinesBefore = [0];
  #totalLines: number | undefined;

  /** Known once the end was reached. The text after the last newline is a line unless it is empty. */
  get totalLines(): number | undefined {
    return this.#totalLines;
  }

  /** Offset of a line; undefined when there is no such line. The first line begins even in an empty file. */
  async startOf(line: number, source: ByteSource, scope: Scope): Promise<number | undefined> {
    if (line === 1) return 0;

    const newline = line - 1;
    await this.#countTo(newline, source, scope);
    if (line > (this.#totalLines ?? Infinity)) return undefined;

    const block = this.#blockWith(newline);
    const position = block * BLOCK_BYTES;
    return position + LineBlock.load(source, position).behindNewline(newline - this.#newlinesBefore[block]!);
  }

  async countLines(source: ByteSource, scope: Scope): Promise<number> {
    await this.#countTo(Infinity, source, scope);
    return this.#totalLines!;
  }

  /** Continues counting until so many newlines were found. */
  async #countTo(newlines: number, source: ByteSource, scope: Scope): Promise<void> {
    for (let blocks = 1; this.#totalLines === undefined && this.#newlinesBefore.at(-1)! < newlines; blocks++) {
      this.#countBlock(source);
      if (blocks % BLOCKS_AT_ONCE === 0) await takeTurn(scope);
    }
  }

  /** Synchronous, so that several calls can continue counting in the same index. */
  #countBlock(source: ByteSource): void {
    const position = (this.#newlinesBefore.length - 1) * BLOCK_BYTES;
    const block = LineBlock.load(source, position);
    const newlines = this.#newlinesBefore.at(-1)! + block.newlines;
    this.#newlinesBefore.push(newlines);
    const isLast = block.length < BLOCK_BYTES || position + BLOCK_BYTES >= source.size;
    if (isLast) this.#totalLines = newlines + (block.endsInNewline ? 0 : 1);
  }

  /** The block that contains the n-th newline of the file. */
  #blockWith(newline: number): number {
    let low = 0;
    let high = this.#newlinesBefore.length - 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#newlinesBefore[middle + 1]! < newline) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * Reads from a position to the end of so many lines, of the source, or of `maxBytes`.
 *
 * Also returns the number of newlines.
 */
export async function readLines(
  source: ByteSource,
  { start, lines, maxBytes }: { start: number; lines: number; maxBytes: number },
  scope: Scope,
): Promise<{ bytes: Buffer; newlines: number }> {
  const parts: Buffer[] = [];
  const end = start + maxBytes;
  let [position, newlines] = [start, 0];
  while (newlines < lines && position < end) {
    const block = LineBlock.load(source, position, Math.min(end - position, BLOCK_BYTES));
    if (block.length === 0) break;

    const wanted = Math.min(block.newlines, lines - newlines);
    newlines += wanted;
    const part = block.first(newlines < lines ? block.length : block.behindNewline(wanted));
    parts.push(part);
    position += part.length;
    if (parts.length % BLOCKS_AT_ONCE === 0) await takeTurn(scope);
  }
  return { bytes: Buffer.concat(parts), newlines };
}

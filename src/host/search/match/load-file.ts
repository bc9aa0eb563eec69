/**
 * Reads a file's bytes into memory for searching.
 *
 * A small file costs open, one read and close: no stat, because a read that does not fill the buffer has it all.
 */
import { closeSync, fstatSync, readSync, type Stats } from 'node:fs';

import type { ByteString } from '../../text/byte-string.ts';
import type { WalkDir } from '../../walk/walk-dir.ts';
import type { TextRange } from './lines.ts';
import type { TextMemory } from './text-memory.ts';

const FIRST_READ_BYTES = 131_072;

/** Beyond this the kernels cannot return a position. */
export const MAX_TEXT_BYTES = 2 ** 30;

/** Returns `over-limit` for a file beyond `maxBytes`. Throws errno errors. */
export function loadFile(
  memory: TextMemory,
  start: number,
  dir: WalkDir,
  name: ByteString,
  maxBytes: number,
): TextRange | 'over-limit';
/** Returns `unwanted` for a file whose kind was refused after it was opened. */
export function loadFile(
  memory: TextMemory,
  start: number,
  dir: WalkDir,
  name: ByteString,
  maxBytes: number,
  isWanted: (stat: Stats) => boolean,
): TextRange | 'over-limit' | 'unwanted';
export function loadFile(
  memory: TextMemory,
  start: number,
  dir: WalkDir,
  name: ByteString,
  maxBytes: number,
  isWanted?: (stat: Stats) => boolean,
): TextRange | 'over-limit' | 'unwanted' {
  const fd = dir.openFile(name);
  try {
    if (isWanted && !isWanted(fstatSync(fd))) return 'unwanted';
    let length = dir.read(fd, memory.room(start, FIRST_READ_BYTES));
    if (length === FIRST_READ_BYTES) length = readRest(memory, start + length, fd, maxBytes - length) + length;
    return length > maxBytes ? 'over-limit' : { start, end: start + length };
  } finally {
    closeSync(fd);
  }
}

/** Reads to the end of the file, or a byte beyond the limit. */
function readRest(memory: TextMemory, start: number, fd: number, maxBytes: number): number {
  const { size } = fstatSync(fd);
  if (size - FIRST_READ_BYTES > maxBytes) return maxBytes + 1;

  let length = 0;
  while (length <= maxBytes) {
    const room = Math.max(size - FIRST_READ_BYTES - length, 0) + 1;
    memory.reserve(start + length + room);
    const count = readSync(fd, memory.buffer, start + length, Math.min(room, maxBytes + 1 - length), null);
    if (count === 0) break;
    length += count;
  }
  return length;
}

/**
 * The log of a journal: one JSON line with a checksum for each part of a record. All processes over the workspace
 * append to it at the same time.
 *
 * A line is one `write` to a file opened with O_APPEND, so lines of two processes do not mix. A process that finds its
 * log replaced by a shorter one (`shrink`) appends the line again; readers count a duplicate line once.
 */
import { closeSync, constants, fstatSync, fsync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

import { fstatOf } from '../system/stat-calls.ts';
import type { JournalChange, RecordHead } from './records.ts';

/** A part of a record, the cancellation of one, or the header. */
export type LogLine =
  | ({ seq: number; part: number; at: number; changes: JournalChange[]; sums?: TreeSumsByName } & RecordHead)
  /** The caller failed to make the changes of this part. */
  | { cancelled: number; part: number }
  /** The first line after `shrink`: numbers below `next` are taken, and records up to `evicted` may be evicted. */
  | { next: number; evicted: number };

/** A line of the log with the bytes that it takes there. */
export interface ReadLine {
  readonly line: LogLine;
  readonly bytes: number;
}

/** Sums of removed directories (`TreeSum`) by their names in the store, in a line without changes. */
export type TreeSumsByName = Readonly<Record<string, string>>;

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const SUM_DIGITS = 8;

const syncLater = promisify(fsync);

export class JournalLog {
  readonly #path: string;
  #fd: number | undefined;
  /** Offset up to which the log was read, in bytes. */
  #read = 0;
  /** Size of the log when it had only lines that were read or that this process appended. */
  #knownSize = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the bytes that the line takes. */
  append(line: LogLine): number {
    const text = encode(line);
    const bytes = Buffer.byteLength(text);
    for (;;) {
      const fd = this.#open();
      if (writeSync(fd, text) < bytes) throw noSpace();
      const { nlink, size } = fstatOf(fd);
      if (size === this.#knownSize + bytes) this.#knownSize = size;
      if (nlink > 0) return bytes;
      this.close();
    }
  }

  /** True if another process appended to the log or replaced it, so that `readNew` has to be called. */
  get hasNew(): boolean {
    const { nlink, size } = fstatOf(this.#open());
    return nlink === 0 || size !== this.#knownSize;
  }

  /** Returns the unread lines; `isNew` if another process replaced the log, so that these are all its lines. */
  readNew(): { lines: ReadLine[]; isNew: boolean } {
    if (this.#fd !== undefined && fstatSync(this.#fd).nlink === 0) this.close();
    const isNew = this.#fd === undefined;
    const fd = this.#open();
    const bytes = Buffer.allocUnsafe(Math.max(0, fstatSync(fd).size - this.#read));
    const count = bytes.length === 0 ? 0 : readSync(fd, bytes, 0, bytes.length, this.#read);
    this.#knownSize = this.#read + count;
    // Another process may still be appending the last line.
    const end = bytes.subarray(0, count).lastIndexOf(0x0a) + 1;
    this.#read += end;
    return { lines: decodeAll(bytes.subarray(0, end)), isNew };
  }

  async sync(): Promise<void> {
    await syncLater(this.#open());
  }

  /** Replaces the log by these lines. The caller holds the lock of the journal. */
  shrink(lines: readonly LogLine[]): void {
    const old = this.#open();
    const temp = `${this.#path}.new`;
    // Appending: another process may append to the new log before the rest of the old one is copied.
    const fd = openSync(temp, FLAGS | constants.O_TRUNC, 0o600);
    try {
      writeAll(fd, Buffer.from(lines.map(encode).join('')));
      renameSync(temp, this.#path);
      // Copies the lines that other processes appended before the rename. A line appended to the old log after it is
      // not lost: `append` sees the link count of 0 and appends again.
      const size = fstatSync(old).size - this.#read;
      const bytes = Buffer.allocUnsafe(Math.max(0, size));
      const count = bytes.length === 0 ? 0 : readSync(old, bytes, 0, bytes.length, this.#read);
      writeAll(fd, bytes.subarray(0, count));
    } finally {
      closeSync(fd);
      this.close();
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#read = 0;
    this.#knownSize = 0;
  }

  #open(): number {
    this.#fd ??= openSync(this.#path, FLAGS, 0o600);
    return this.#fd;
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

/** A write to a regular file is short only if the disk is full. */
function noSpace(): NodeJS.ErrnoException {
  return Object.assign(new Error('no space left to append to the journal log'), { code: 'ENOSPC', errno: 0 });
}

function encode(line: LogLine): string {
  const text = JSON.stringify(line);
  // The leading newline ends a line that another process could not write completely.
  return `\n${text}\t${sumOf(text)}\n`;
}

/** Checksum; of a string that of its UTF-8 bytes, as they are in the log. */
function sumOf(text: string | Uint8Array): string {
  return crc32(text).toString(16).padStart(SUM_DIGITS, '0');
}

/** Skips lines that are incomplete or have a wrong checksum. */
function decodeAll(bytes: Buffer): ReadLine[] {
  const lines: ReadLine[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at);
    const line = decode(bytes.subarray(at, end));
    // Counts the newlines before and after it.
    if (line) lines.push({ line, bytes: end - at + 2 });
    at = end + 1;
  }
  return lines;
}

function decode(line: Buffer): LogLine | undefined {
  const split = line.length - SUM_DIGITS - 1;
  if (split < 0 || line[split] !== 0x09) return undefined;
  const text = line.subarray(0, split);
  if (sumOf(text) !== line.toString('latin1', split + 1)) return undefined;
  try {
    return JSON.parse(text.toString()) as LogLine;
  } catch {
    return undefined;
  }
}

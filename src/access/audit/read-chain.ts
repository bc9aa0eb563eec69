/** Reads a chain of audit records from its folder: where a server continues it, and where it is broken. */
import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { follow, START, type Link } from './chain.ts';

export const CURRENT = 'current.jsonl';
export const HEAD = 'head';
export const KEY = 'key';

/** How far back the search for the head's record begins; the head is behind by the records of one write at most. */
const TAIL_BYTES = 262_144;

export interface Verified {
  readonly records: number;
  /** The first fault, with file and line. */
  readonly fault?: string;
}

/** Closed files, oldest first. */
export function closedFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{16}\.jsonl$/.test(name))
    .toSorted();
}

/**
 * The link that the next record continues from: after the head, or after the records that a killed server wrote past
 * it.
 *
 * If the log does not hold the head, the head is used anyway: the gap is evidence, and shows in every check.
 */
export function newestLink(folder: string, key: Buffer): Link {
  const head = readHead(folder);
  if (!head) return START;
  const lines = linesAfter(head, join(folder, CURRENT));
  if (!lines) return head;
  let last: Link = head;
  for (const line of lines) {
    const next = follow(line, last, key);
    if (typeof next === 'string') return last;
    last = next;
  }
  return last;
}

/** Checks every record of the folder, and that the last one is the one the server wrote last. */
export async function verifyChain(folder: string): Promise<Verified> {
  const key = readFileSync(join(folder, KEY));
  const head = readHead(folder);
  if (!head) return { records: 0, fault: `${HEAD} is missing or damaged: records may be missing` };
  const files = [...closedFiles(folder), CURRENT].filter((file) => existsSync(join(folder, file)));
  let last: Link | undefined;
  let records = 0;
  for (const file of files) {
    let number = 0;
    for await (const line of linesOf(join(folder, file))) {
      number += 1;
      // The record before the first may have been deleted with its file; its number is known.
      const next = follow(line, last ?? { ...before(line), seq: head.gone }, key);
      if (typeof next === 'string') return { records, fault: `${file} line ${number}: ${next}` };
      last = next;
      records += 1;
    }
  }
  const end = last ?? START;
  if (end.seq < head.seq) return { records, fault: `${head.seq - end.seq} records are missing at the end` };
  return { records };
}

/** The records of a folder, oldest first, without checking the chain. */
export async function* recordsOf(folder: string): AsyncGenerator<Record<string, unknown>> {
  for (const file of [...closedFiles(folder), CURRENT]) {
    if (!existsSync(join(folder, file))) continue;
    for await (const line of linesOf(join(folder, file))) {
      try {
        yield JSON.parse(line) as Record<string, unknown>;
      } catch {
        yield { damaged: line.slice(0, 200) };
      }
    }
  }
}

/** The last record, and the number of the last one that was deleted with its file. */
export function readHead(folder: string): (Link & { gone: number }) | undefined {
  const path = join(folder, HEAD);
  const parts = existsSync(path) ? /^(\d{16}) ([0-9a-f]{64}) (\d{16})\n$/.exec(readFileSync(path, 'utf8')) : null;
  return parts ? { seq: Number(parts[1]), hash: parts[2]!, gone: Number(parts[3]) } : undefined;
}

function before(line: string): Link {
  const parts = /^\{"seq":(\d+),"prev":"([0-9a-f]{64})"/.exec(line);
  return parts ? { seq: Number(parts[1]) - 1, hash: parts[2]! } : START;
}

function linesOf(path: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(path), crlfDelay: Infinity });
}

/** The lines of a file after the record of `head`; undefined if the file does not hold it. */
function linesAfter(head: Link, path: string): string[] | undefined {
  if (!existsSync(path)) return head.seq === 0 ? [] : undefined;
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    for (let length = TAIL_BYTES; ; length *= 8) {
      const bytes = Buffer.alloc(Math.min(size, length));
      readSync(file, bytes, 0, bytes.length, size - bytes.length);
      const lines = bytes.toString().split('\n').filter(Boolean);
      const at = lines.findIndex((line) => line.endsWith(`"hash":"${head.hash}"}`));
      if (at !== -1) return lines.slice(at + 1);
      if (length >= size) return head.seq === 0 ? lines : undefined;
    }
  } finally {
    closeSync(file);
  }
}

/**
 * The chain of audit records: each line holds the hash of the line before, and its own over both.
 *
 * The hashes are keyed by a secret beside the log that only the server's user reads: without it a changed line cannot
 * be given a hash that fits. The last hash is also in a file of its own; without it, lines could be cut off the end
 * unnoticed.
 */
import { createHmac } from 'node:crypto';

/** Before the first record. */
const GENESIS = '0'.repeat(64);

export interface Link {
  readonly seq: number;
  readonly hash: string;
}

export const START: Link = { seq: 0, hash: GENESIS };

/** The line of a record, with its position in the chain. */
export function linked(record: object, last: Link, key: Buffer): { line: string; link: Link } {
  const seq = last.seq + 1;
  const body = JSON.stringify({ seq, prev: last.hash, ...record });
  const hash = hashOf(body, key);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, link: { seq, hash } };
}

export type Break = 'not a record' | 'changed' | 'out of order';

/** The position of a line in the chain, or why it does not follow `last`. */
export function follow(line: string, last: Link, key: Buffer): Link | Break {
  const parts = /^(\{"seq":(\d+),"prev":"([0-9a-f]{64})".*),"hash":"([0-9a-f]{64})"\}$/s.exec(line);
  if (!parts) return 'not a record';
  const [, body, seq, prev, hash] = parts as unknown as [string, string, string, string, string];
  if (hashOf(`${body}}`, key) !== hash) return 'changed';
  if (Number(seq) !== last.seq + 1 || prev !== last.hash) return 'out of order';
  return { seq: Number(seq), hash };
}

function hashOf(body: string, key: Buffer): string {
  return createHmac('sha256', key).update(body).digest('hex');
}

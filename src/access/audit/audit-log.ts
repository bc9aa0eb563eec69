/**
 * The audit of one server: appends the records of calls to a chain.
 *
 * Each running server has a chain of its own, a numbered folder that it claims by its process; the next server to claim
 * the folder continues the chain. A file that is full is closed and numbered; the oldest are deleted, and the first
 * record of the oldest remaining file still names the hash before it.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

import { isAlive, OWN_MARK } from '#host';
import { linked, type Link } from './chain.ts';
import { closedFiles, CURRENT, HEAD, KEY, newestLink, readHead } from './read-chain.ts';

const KEY_BYTES = 32;
const CLAIM = 'claim';
const MOST_CHAINS = 64;

export interface AuditLimits {
  /** Size at which a file is closed; 0 keeps no audit. */
  readonly maxBytes: number;
  /** Closed files that are kept. */
  readonly keep: number;
}

export class AuditLog {
  readonly folder: string;
  readonly #limits: AuditLimits;
  readonly #key: Buffer;
  #last: Link;
  #file: number;
  readonly #head: number;
  #bytes: number;
  /** Number of the last record whose file was deleted. */
  #gone: number;

  private constructor(folder: string, limits: AuditLimits) {
    this.folder = folder;
    this.#limits = limits;
    this.#key = keyOf(folder);
    this.#last = newestLink(folder, this.#key);
    this.#gone = readHead(folder)?.gone ?? 0;
    this.#file = openSync(join(folder, CURRENT), 'a', 0o600);
    this.#head = openSync(join(folder, HEAD), 'w', 0o600);
    this.#bytes = fstatSync(this.#file).size;
    this.#mark();
  }

  static open(stateDir: string, limits: AuditLimits): AuditLog {
    return new AuditLog(claimFolder(join(stateDir, 'audit')), limits);
  }

  /** Appends records in one write, then moves the head: the head of a killed server may be behind the last record. */
  append(records: readonly object[]): void {
    let last = this.#last;
    let lines = '';
    for (const record of records) {
      const { line, link } = linked(record, last, this.#key);
      lines += `${line}\n`;
      last = link;
    }
    const bytes = Buffer.from(lines);
    writeSync(this.#file, bytes);
    this.#last = last;
    this.#bytes += bytes.length;
    this.#mark();
    if (this.#bytes >= this.#limits.maxBytes) this.#rotate();
  }

  close(): void {
    closeSync(this.#file);
    closeSync(this.#head);
    rmSync(join(this.folder, CLAIM), { force: true });
  }

  #mark(): void {
    const { seq, hash } = this.#last;
    writeSync(this.#head, `${digits(seq)} ${hash} ${digits(this.#gone)}\n`, 0);
  }

  #rotate(): void {
    closeSync(this.#file);
    const closed = `${digits(this.#last.seq)}.jsonl`;
    renameSync(join(this.folder, CURRENT), join(this.folder, closed));
    this.#file = openSync(join(this.folder, CURRENT), 'a', 0o600);
    this.#bytes = 0;
    const all = closedFiles(this.folder);
    for (const old of all.slice(0, Math.max(0, all.length - this.#limits.keep))) {
      this.#gone = parseInt(old, 10);
      this.#mark();
      rmSync(join(this.folder, old));
    }
  }
}

/** Fixed length, so that names sort and the head is overwritten in one piece. */
function digits(count: number): string {
  return String(count).padStart(16, '0');
}

/** The first folder that no running server holds. */
function claimFolder(audit: string): string {
  for (let number = 1; number <= MOST_CHAINS; number++) {
    const folder = join(audit, String(number));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (claim(join(folder, CLAIM))) return folder;
  }
  throw new Error(
    `${audit}: ${MOST_CHAINS} servers write audits here already; stop one, or give this server its own state_dir`,
  );
}

function claim(path: string): boolean {
  try {
    writeFileSync(path, OWN_MARK, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (isAlive(readFileSync(path, 'utf8'))) return false;
  rmSync(path, { force: true });
  return claim(path);
}

function keyOf(folder: string): Buffer {
  const path = join(folder, KEY);
  try {
    writeFileSync(path, randomBytes(KEY_BYTES), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path);
}

/**
 * Replacements in several files, all or nothing: reads and edits every file first, then writes them as one write set.
 *
 * A file that cannot be edited is reported in its row, and the others are edited. New contents stay in memory, so
 * beyond a limit the files are split into several sets.
 */
import { isUtf8 } from 'node:buffer';

import type { ChangeScope, JailChanges } from '../changes/jail-changes.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Jail } from '../jail/jail.ts';
import type { SetEntry } from '../journal/set-entry.ts';
import { RegexError } from '../regex/index.ts';
import type { Turns } from '../search/turns.ts';
import { TimeLimitError } from '../system/time-limit.ts';
import { FileFault } from './file-fault.ts';
import type { SedResult } from './file-system.ts';

export type Replace = (text: Buffer) => Promise<{ bytes: Uint8Array; count: number }>;

/** Largest file that is edited: its old and its new content are in memory. */
export const MAX_FILE_BYTES = 256 * 2 ** 20;

/** Size of new contents in memory at which a set is written. */
const MAX_SET_BYTES = 256 * 2 ** 20;

/** Errors that fail one file; the others are still edited. */
const OF_FILE = [HostError, FileFault, RegexError, TimeLimitError];

type Write = Extract<SetEntry, { kind: 'write' }>;

export class SedSet {
  readonly #jail: Jail;
  readonly #changes: JailChanges;
  readonly #replace: Replace;
  /** By canonical path: a file that is listed twice is edited twice and written once. */
  readonly #writes = new Map<string, Write>();
  readonly #rows = new Map<string, SedResult>();
  #bytes = 0;

  constructor(jail: Jail, changes: JailChanges, replace: Replace) {
    this.#jail = jail;
    this.#changes = changes;
    this.#replace = replace;
  }

  async run(files: readonly string[], scope: ChangeScope, turns: Turns): Promise<SedResult[]> {
    const results: SedResult[] = [];
    for (const path of files) {
      results.push(await this.#edit(path));
      if (this.#bytes > MAX_SET_BYTES) await this.#write(scope);
      if (turns.isOver) await turns.next();
    }
    await this.#write(scope);
    return results;
  }

  async #edit(path: string): Promise<SedResult> {
    try {
      using target = this.#jail.target(path);
      const at = this.#jail.spell(target);
      const earlier = this.#writes.get(at);
      const { bytes, count } = await this.#replace(earlier ? Buffer.from(earlier.content) : await readText(target));
      const row: SedResult = { path, replacements: count };
      if (count === 0) return row;
      const { ino, size, mtimeMs } = target.stat!;
      this.#writes.set(at, { kind: 'write', path: at, content: bytes, seen: { ino, size, mtimeMs } });
      this.#rows.set(at, row);
      this.#bytes += bytes.length;
      return row;
    } catch (error) {
      return { path, replacements: 0, problem: problemOfFile(error) };
    }
  }

  async #write(scope: ChangeScope): Promise<void> {
    if (this.#writes.size === 0) return;
    const { changes } = await this.#changes.writeSet([...this.#writes.values()], scope);
    for (const { path, note } of changes) {
      const row = this.#rows.get(path);
      if (row && note !== undefined) row.note = note;
    }
    this.#writes.clear();
    this.#bytes = 0;
  }
}

/** Reads a file for editing; throws if it is missing, too large or not UTF-8. */
export async function readText(target: JailEntry): Promise<Buffer> {
  const { path, stat } = target;
  if (!stat) throw new HostError('missing', path);
  if (stat.size > MAX_FILE_BYTES) {
    throw new FileFault('too-large', `${path} is ${stat.size} bytes; the limit is ${MAX_FILE_BYTES}`);
  }
  using file = target.open();
  const text = await file.read();
  if (!isUtf8(text)) throw new FileFault('bad-request', `${path} is not UTF-8 text`);
  return text;
}

/** Returns the message of an error that fails one file; rethrows any other. */
export function problemOfFile(error: unknown): string {
  if (!OF_FILE.some((kind) => error instanceof kind)) throw error;
  return (error as Error).message;
}

/**
 * The state of one caller between its calls: short handles, and the versions of files that it has seen.
 *
 * A session belongs to a principal of the engine: a connection, an MCP session or a token. Programs that share a token,
 * or call over HTTP without one, share it; handles of other callers are unknown in it. Everything is bounded, and lost
 * with the process; the journal and the jobs themselves belong to others.
 */
import { LruCache, type Journal, type JournalRecord } from '#host';
import type { IncomingCall } from '#contract';
import { errors } from './errors.ts';

const MAX_SESSIONS = 1000;
const MAX_VERSIONS = 10_000;
const MAX_JOBS = 1000;

export interface SessionJob {
  readonly handle: string;
  /** Id of the job in shell. */
  readonly jobId: string;
  readonly command: string;
  /** Offset up to which the caller has received the output. */
  seen: number;
}

/** A change of files that this session made. */
export interface NumberedChange {
  readonly number: number;
  readonly record: JournalRecord;
}

export class Session {
  /** Versions of file contents that the caller has read or written, by canonical path. */
  readonly #versions = new LruCache<string, string>(MAX_VERSIONS);
  readonly #jobs = new Map<string, SessionJob>();
  readonly #outputs: LruCache<string, string>;
  readonly #key: string;
  readonly #journal: () => Journal | undefined;
  readonly #caller: string | undefined;
  readonly #numbers = new Map<number, number>();
  /** Number of the last record before the session. */
  readonly #begin: number;
  #lastOutput = 0;
  #lastJob = 0;

  constructor(caller: string | undefined, key: string, { journal, outputs }: SessionParts) {
    this.#caller = caller;
    this.#key = key;
    this.#journal = journal;
    this.#outputs = outputs;
    const [newest] = journal()?.newestFirst() ?? [];
    this.#begin = newest?.seq ?? 0;
  }

  sawVersion(path: string, version: string): void {
    this.#versions.set(path, version, 1);
  }

  seenVersion(path: string): string | undefined {
    return this.#versions.get(path);
  }

  /** Returns the handle of the text, such as `o1`. */
  keepOutput(text: string): string {
    const handle = `o${++this.#lastOutput}`;
    this.#outputs.set(`${this.#key} ${handle}`, text, text.length * 2);
    return handle;
  }

  output(handle: string): string {
    const text = this.#outputs.get(`${this.#key} ${handle}`);
    if (text !== undefined) return text;
    const wasKept = /^o\d{1,9}$/.test(handle) && Number(handle.slice(1)) <= this.#lastOutput && handle !== 'o0';
    const problem = wasKept
      ? `output ${handle} is no longer kept; run the command again`
      : `there is no output ${handle} in this session${this.#lastOutput > 0 ? `; the last is o${this.#lastOutput}` : ''}`;
    throw errors.fail('A224', { problem });
  }

  addJob(jobId: string, command: string): SessionJob {
    const job = { handle: `j${++this.#lastJob}`, jobId, command, seen: 0 };
    this.#jobs.set(job.handle, job);
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size > MAX_JOBS) this.#jobs.delete(oldest!);
    return job;
  }

  job(handle: string): SessionJob {
    const job = this.#jobs.get(handle);
    if (job) return job;
    const known = [...this.#jobs.keys()].slice(-10);
    const problem = `there is no job ${handle} in this session; ${known.length > 0 ? `there are ${known.join(', ')}` : 'there are none'}`;
    throw errors.fail('A224', { problem });
  }

  /** The changes of this session, oldest first; an undo does not count as one. */
  changes(): NumberedChange[] {
    const records: JournalRecord[] = [];
    for (const record of this.#journal()?.newestFirst() ?? []) {
      const { seq, caller, changes, undoes } = record;
      if (seq <= this.#begin) break;
      if (caller === this.#caller && changes.length > 0 && undoes === undefined) records.push(record);
    }
    return records.reverse().map((record) => ({ number: this.#numberOf(record.seq), record }));
  }

  /** The number of the change with this record; undefined when nothing is recorded. */
  numberOf(seq: number | undefined): number | undefined {
    return seq === undefined ? undefined : this.changes().find(({ record }) => record.seq === seq)?.number;
  }

  /** Does not change when earlier records are evicted. */
  #numberOf(seq: number): number {
    const number = this.#numbers.get(seq) ?? this.#numbers.size + 1;
    this.#numbers.set(seq, number);
    return number;
  }
}

/** The changed paths, without folders that were only created for them. */
export function filesOf({ changes }: JournalRecord): string[] {
  const files = changes.filter(({ before, after }) => before.kind !== 'absent' || after.kind !== 'directory');
  return [...new Set((files.length > 0 ? files : changes).map(({ path }) => path))];
}

interface SessionParts {
  readonly journal: () => Journal | undefined;
  readonly outputs: LruCache<string, string>;
}

export class Sessions {
  readonly #sessions = new LruCache<string, Session>(MAX_SESSIONS);
  readonly #parts: SessionParts;
  #made = 0;

  constructor(journal: () => Journal | undefined, maxOutputBytes: number) {
    this.#parts = { journal, outputs: new LruCache(maxOutputBytes) };
  }

  /** The session of the caller; a program of an engine that names no caller shares one with the others. */
  of({ principal }: Pick<IncomingCall, 'principal'>): Session {
    const id = principal?.id ?? '';
    const known = this.#sessions.get(id);
    if (known) return known;
    const made = new Session(principal?.id, String(++this.#made), this.#parts);
    this.#sessions.set(id, made, 1);
    return made;
  }
}

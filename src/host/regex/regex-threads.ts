/**
 * Runs regexes off the main thread, so that no pattern of a user can block it.
 *
 * All of them, because a slow one cannot be recognized: `.*[^A-Z]|[A-Z]` is short, compiles to little, and takes
 * seconds on 40 KB. A thread is started when there is work and the others are busy, and is kept for the next task. A
 * thread whose caller aborted is terminated, as WebAssembly cannot be interrupted.
 */
import { availableParallelism } from 'node:os';

import { FileFault } from '../files/file-fault.ts';
import { TimeLimit } from '../system/time-limit.ts';
import type { LineMatch } from './find-lines.ts';
import { RegexError, ReplacedSizeError, ReplacementError } from './regex-error.ts';
import type { Span } from './regex.ts';
import { RegexWorker } from './regex-worker.ts';
import type { ReplacedSpan } from './replaced-spans.ts';
import type { Replaced } from './replacement.ts';
import type { FindTask, FromThread, LinesTask, ReplaceTask, ToThread } from './thread-messages.ts';

/** At least two, so that one slow pattern does not block all other callers. */
const MAX_THREADS = Math.max(2, Math.min(availableParallelism(), 4));

interface Scope {
  readonly signal: AbortSignal;
  /** Time limit of the task. */
  readonly timeoutMs?: number;
}

export interface ReplacedText extends Replaced {
  /** Replacements in the order of the text. */
  readonly spans: readonly ReplacedSpan[];
}

interface Job {
  readonly task: ToThread;
  readonly scope: Scope;
  resolve: (answer: FromThread) => void;
  reject: (reason: Error) => void;
}

export class RegexThreads {
  readonly #idle: RegexWorker[] = [];
  readonly #busy = new Set<RegexWorker>();
  /** Queued jobs in the order of arrival. */
  readonly #waiting = new Set<Job>();
  #isClosed = false;

  /** Number of running threads. */
  get size(): number {
    return this.#idle.length + this.#busy.size;
  }

  /** The leftmost match. Throws `RegexError`. */
  async find(task: FindTask, scope: Scope): Promise<Span | undefined> {
    const answer = await this.#run({ ...task, kind: 'find' }, scope);
    return answer.kind === 'found' ? answer.match : refuse(answer);
  }

  /** The first lines that match. Throws `RegexError`. */
  async findLines(task: LinesTask, scope: Scope): Promise<LineMatch[]> {
    const answer = await this.#run({ ...task, kind: 'lines' }, scope);
    return answer.kind === 'lines' ? answer.lines : refuse(answer);
  }

  /**
   * The text with matches replaced, or the text itself when there is none. Throws `RegexError` and `ReplacementError`,
   * and `FileFault` for a text that grows beyond `maxBytes`.
   */
  async replace(task: ReplaceTask, scope: Scope): Promise<ReplacedText> {
    const answer = await this.#run({ ...task, kind: 'replace' }, scope);
    if (answer.kind !== 'replaced') return refuse(answer);
    return { bytes: answer.bytes ?? task.text, count: answer.count, spans: answer.spans };
  }

  /** Terminates the threads. Running and queued tasks fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting) reject(closed());
    this.#waiting.clear();
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((worker) => worker.end(closed())));
  }

  async #run(task: ToThread, scope: Scope): Promise<FromThread> {
    if (this.#isClosed) throw closed();
    const { signal } = scope;
    signal.throwIfAborted();

    let withdraw = () => {};
    try {
      return await new Promise((resolve, reject) => {
        const job = { task, scope, resolve, reject };
        // A task that is running is aborted by its worker instead.
        withdraw = () => this.#waiting.delete(job) && reject(signal.reason as Error);
        signal.addEventListener('abort', withdraw);
        this.#waiting.add(job);
        this.#dispatch();
      });
    } finally {
      signal.removeEventListener('abort', withdraw);
    }
  }

  #dispatch(): void {
    for (const job of this.#waiting) {
      if (this.#idle.length === 0 && this.#busy.size >= MAX_THREADS) return;
      this.#waiting.delete(job);
      void this.#work(job, this.#idle.pop() ?? new RegexWorker());
    }
  }

  async #work({ task, scope, resolve, reject }: Job, worker: RegexWorker): Promise<void> {
    this.#busy.add(worker);
    using limit = new TimeLimit(scope.timeoutMs, scope.signal);
    const [outcome] = await Promise.allSettled([worker.run(task, limit.signal)]);
    this.#busy.delete(worker);
    if (!worker.isEnded) this.#idle.push(worker);
    this.#dispatch();
    if (outcome.status === 'fulfilled') resolve(outcome.value);
    else reject(outcome.reason as Error);
  }
}

function closed(): Error {
  return new Error('the regex threads were closed');
}

function refuse(answer: FromThread): never {
  if (answer.kind === 'bad-regex') throw new RegexError(answer.pattern, answer.reason);
  if (answer.kind === 'bad-replacement') throw new ReplacementError(answer.reference, answer.pattern, answer.hint);
  if (answer.kind === 'too-large') throw new FileFault('too-large', new ReplacedSizeError(answer.maxBytes).message);
  throw new Error(answer.kind === 'broken' ? answer.stack : `a regex thread answered with ${answer.kind}`);
}

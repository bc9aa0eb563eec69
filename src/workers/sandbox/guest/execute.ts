/**
 * One command in the guest: its input, its output within the cap, and its end.
 *
 * The host keeps the time. When it is up the guest is told to end the command with all that came from it, and what was
 * printed until then is the answer, whether or not the guest obeys.
 */
import { ByteCollector } from './byte-collector.ts';
import { OP } from './frames.ts';
import { GuestError } from './guest-error.ts';
import type { GuestStream, Output } from './guest-stream.ts';
import { RequestBytes, UNSAID } from './request-bytes.ts';

/** How long the guest may take to end a command whose time is up. */
const KILL_MS = 2000;

/** A timer that is set for longer goes off at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const FLAG = { stdoutCut: 1, stderrCut: 2, killed: 4 };

export interface ExecSpec {
  /** A first word without a slash is looked up in the PATH of `env`. */
  argv: readonly string[];
  env: readonly (readonly [name: string, value: string])[];
  cwd: string;
  /** Those of the agent, which is root in the guest, when left out. */
  uid?: number;
  gid?: number;
  /** An end of file at once when left out. */
  stdin?: Uint8Array | AsyncIterable<Uint8Array>;
  /** How much of each stream is kept; the rest is read and dropped. */
  maxOutputBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface ExecOutput {
  stdout: Buffer;
  stderr: Buffer;
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
  durationMs: number;
}

export type ExecOutcome =
  /** 128 and the signal for a command that a signal ended. */
  | ({ kind: 'exited'; exitCode: number } & ExecOutput)
  /** With what was printed until then. */
  | ({ kind: 'timed-out' } & ExecOutput)
  | { kind: 'not-started'; errno: string; what: 'program' | 'workdir' | 'user'; durationMs: number };

/** What carries requests to the guest. */
interface Guest {
  request(op: number, payload: Buffer, options: { signal: AbortSignal }): Promise<GuestStream>;
}

export async function execute(guest: Guest, spec: ExecSpec): Promise<ExecOutcome> {
  const { signal, timeoutMs } = spec;
  signal.throwIfAborted();
  const output = new CappedOutput(spec.maxOutputBytes);
  if (timeoutMs <= 0) return { kind: 'timed-out', ...output.result() };

  let payload: Buffer;
  try {
    payload = requestOf(spec);
  } catch (error) {
    return notStarted(error, output);
  }
  const stream = await guest.request(OP.exec, payload, { signal });
  stream.onOutput = (which, piece) => {
    output.take(which, piece);
    stream.consumed(piece.length);
  };
  const feeding = spec.stdin === undefined ? undefined : feed(stream, spec.stdin);
  return untilEnd(stream, { spec, output, feeding });
}

function requestOf({ argv, env, cwd, uid, gid, stdin, maxOutputBytes }: ExecSpec): Buffer {
  const request = new RequestBytes()
    .u32(uid ?? UNSAID)
    .u32(gid ?? UNSAID)
    .u32(maxOutputBytes)
    .u32(maxOutputBytes)
    .u8(stdin !== undefined)
    .u32(argv.length)
    .u32(env.length)
    .text(cwd);
  for (const word of argv) request.text(word);
  for (const [name, value] of env) request.text(`${name}=${value}`);
  return request.bytes();
}

/** Fails only when the source does; a command that does not read to the end is none of our business. */
async function feed(stream: GuestStream, stdin: NonNullable<ExecSpec['stdin']>): Promise<void> {
  const pieces = stdin instanceof Uint8Array ? [stdin] : stdin;
  for await (const piece of pieces) {
    if (stream.isOver) return;
    await stream.send(piece);
  }
  stream.end();
}

interface Running {
  spec: ExecSpec;
  output: CappedOutput;
  feeding: Promise<void> | undefined;
}

async function untilEnd(stream: GuestStream, { spec, output, feeding }: Running): Promise<ExecOutcome> {
  const { signal, timeoutMs } = spec;
  let stop!: (reason: 'timed-out' | Error) => void;
  const stopped = new Promise<'timed-out' | Error>((resolve) => (stop = resolve));
  const timer = setTimeout(() => stop('timed-out'), Math.min(timeoutMs, MAX_TIMER_MS));
  const onAbort = () => stop(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  // Its caller may have left at the moment that its turn came.
  if (signal.aborted) onAbort();
  feeding?.catch((error: unknown) => stop(error as Error));
  try {
    const ended = await Promise.race([stream.answer, stopped]);
    if (Buffer.isBuffer(ended)) return exited(ended, output);

    stream.cancel();
    const last = await Promise.race([stream.answer.catch(() => {}), passed(KILL_MS)]);
    if (ended instanceof Error) throw ended;
    if (last && !wasKilled(last)) return exited(last, output);
    if (last) output.noteCuts(last);
    return { kind: 'timed-out', ...output.result() };
  } catch (error) {
    return notStarted(error, output);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    stream.onOutput = (_, piece) => stream.consumed(piece.length);
  }
}

/** One that was not had ended by itself before the guest heard that its time was up. */
function wasKilled([, flags = 0]: Buffer): boolean {
  return (flags & FLAG.killed) !== 0;
}

function exited(answer: Buffer, output: CappedOutput): ExecOutcome {
  output.noteCuts(answer);
  return { kind: 'exited', exitCode: answer[0] ?? 255, ...output.result() };
}

function notStarted(error: unknown, output: CappedOutput): ExecOutcome {
  if (!(error instanceof GuestError)) throw error;
  const what = error.about === 'workdir' || error.about === 'user' ? error.about : 'program';
  return { kind: 'not-started', errno: error.code, what, durationMs: output.durationMs };
}

function passed(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref());
}

/** The first bytes of both streams. The guest cuts by itself; this holds whether it does or not. */
class CappedOutput {
  readonly #cut = { stdout: false, stderr: false };
  readonly #maxBytes: number;
  readonly #startedMs = performance.now();
  readonly #kept = { stdout: new ByteCollector(), stderr: new ByteCollector() };

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get durationMs(): number {
    return Math.round(performance.now() - this.#startedMs);
  }

  take(output: Output, piece: Buffer): void {
    const kept = piece.subarray(0, this.#maxBytes - this.#kept[output].length);
    this.#cut[output] ||= kept.length < piece.length;
    this.#kept[output].add(kept);
  }

  /** What the guest passed over by itself. */
  noteCuts([, flags = 0]: Buffer): void {
    this.#cut.stdout ||= (flags & FLAG.stdoutCut) !== 0;
    this.#cut.stderr ||= (flags & FLAG.stderrCut) !== 0;
  }

  result(): ExecOutput {
    return {
      stdout: this.#kept.stdout.bytes(),
      stderr: this.#kept.stderr.bytes(),
      stdoutTruncated: this.#cut.stdout,
      stderrTruncated: this.#cut.stderr,
      durationMs: this.durationMs,
    };
  }
}

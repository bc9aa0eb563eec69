/**
 * One command in the guest, as a process.
 *
 * On request the guest kills it with its descendants. If it does not confirm that in time, the command counts as ended
 * here, and its further output is dropped.
 */
import type { OutputPiece, Process, ProcessEnd, ProcessInput } from '#host';
import { OP } from './frames.ts';
import type { GuestStream } from './guest-stream.ts';
import { RequestBytes, UNSAID } from './request-bytes.ts';

/** How long the guest may take to kill a command. */
const KILL_MS = 2000;

const FLAG = { stdoutCut: 1, stderrCut: 2, killed: 4 };

export interface GuestCommand {
  /** A first word without a slash is looked up in the PATH of `env`. */
  argv: readonly string[];
  env: readonly (readonly [name: string, value: string])[];
  cwd: string;
  /** The agent's, which is root in the guest, when absent. */
  uid?: number;
  gid?: number;
  /** Whether it gets input; otherwise it reads end of file at once. */
  hasInput?: boolean;
  /** How much of each stream the guest sends; it reads and drops the rest. */
  maxOutputBytes: number;
}

/** Carries requests to the guest. */
interface Guest {
  request(op: number, payload: Buffer, options: { signal: AbortSignal }): Promise<GuestStream>;
}

export class GuestProcess implements Process {
  readonly output: AsyncIterable<OutputPiece>;
  readonly input: ProcessInput;
  /** Rejects with a `GuestError` when it could not be started. */
  readonly done: Promise<ProcessEnd>;
  readonly #stream: GuestStream;
  #giveUp!: () => void;

  private constructor(stream: GuestStream, startedMs: number) {
    this.#stream = stream;
    this.output = stream.output();
    this.input = { write: (bytes) => stream.send(bytes), end: () => stream.end() };
    this.done = this.#run(startedMs);
    // A reader of the output gets the error there.
    this.done.catch(() => {});
  }

  /** Waits for a slot; an aborted signal ends the wait. */
  static async start(guest: Guest, command: GuestCommand, signal: AbortSignal): Promise<GuestProcess> {
    const startedMs = performance.now();
    return new GuestProcess(await guest.request(OP.exec, requestOf(command), { signal }), startedMs);
  }

  async signal(): Promise<void> {
    this.#stream.cancel();
    const timer = setTimeout(this.#giveUp, KILL_MS).unref();
    await this.done.catch(() => {});
    clearTimeout(timer);
  }

  async #run(startedMs: number): Promise<ProcessEnd> {
    const given = new Promise<undefined>((resolve) => (this.#giveUp = () => resolve(undefined)));
    const answer = await Promise.race([this.#stream.answer, given]);
    if (!answer) this.#stream.drop();
    const [code = 255, flags = answer ? 0 : FLAG.killed] = answer ?? [];
    // A cancelled command that was not killed had ended by itself before.
    const isKilled = (flags & FLAG.killed) !== 0;
    return {
      exitCode: isKilled ? null : code,
      signal: isKilled ? 'SIGKILL' : null,
      durationMs: Math.round(performance.now() - startedMs),
      dropped: { stdout: (flags & FLAG.stdoutCut) !== 0, stderr: (flags & FLAG.stderrCut) !== 0 },
    };
  }
}

function requestOf({ argv, env, cwd, uid, gid, hasInput = false, maxOutputBytes }: GuestCommand): Buffer {
  const request = new RequestBytes()
    .u32(uid ?? UNSAID)
    .u32(gid ?? UNSAID)
    .u32(maxOutputBytes)
    .u32(maxOutputBytes)
    .u8(hasInput)
    .u32(argv.length)
    .u32(env.length)
    .text(cwd);
  for (const word of argv) request.text(word);
  for (const [name, value] of env) request.text(`${name}=${value}`);
  return request.bytes();
}

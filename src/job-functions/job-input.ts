/**
 * The input of one job: callers in turn, in small pieces, each for a limited time.
 *
 * A program that does not read leaves at most one piece here. That piece counts as written, because the program gets it
 * when it reads again; a caller that sends the rest later repeats nothing.
 */
import type { ProcessInput } from '#host';
import { JobFault } from './job-fault.ts';
import { isSettledWithin } from './timeout.ts';

const PIECE_BYTES = 65_536;

export class JobInput {
  readonly #input: ProcessInput;
  readonly #staysOpen: boolean;
  /** Settles when nothing is left to write. */
  #last: Promise<void> = Promise.resolve();
  #isEnded = false;

  /** `staysOpen`: its end is a key that a program may read and ignore, as in a terminal. */
  constructor(input: ProcessInput, { staysOpen = false } = {}) {
    this.#input = input;
    this.#staysOpen = staysOpen;
  }

  /** Returns how many bytes the program took before the timeout. */
  async write(bytes: Uint8Array, timeoutMs: number): Promise<number> {
    const byMs = performance.now() + timeoutMs;
    const before = this.#last;
    const writing = before.then(() => this.#write(bytes, byMs));
    this.#last = writing.then(
      ({ rest }) => rest,
      () => {},
    );
    if (!(await isSettledWithin(before, timeoutMs))) return 0;
    return (await writing).written;
  }

  /** Ends the input after everything written; a second call does nothing. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = !this.#staysOpen;
    void this.#last.then(() => this.#input.end());
  }

  async #write(bytes: Uint8Array, byMs: number): Promise<{ written: number; rest: Promise<void> }> {
    let written = 0;
    while (written < bytes.length && performance.now() < byMs) {
      if (this.#isEnded) throw new JobFault('no-input', 'the input of this job was ended by `eof`');
      const piece = bytes.subarray(written, written + PIECE_BYTES);
      const rest = this.#input.write(piece);
      written += piece.length;
      if (!(await isSettledWithin(rest, byMs - performance.now()))) return { written, rest };
      if (this.#input.isClosed) throw new JobFault('no-input', 'the program has closed its input');
    }
    return { written, rest: Promise.resolve() };
  }
}

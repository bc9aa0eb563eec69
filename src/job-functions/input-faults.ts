/** Queue of faults in the items of an attached caller, until they are written to the stream that it reads. */
import type { JobCode } from './job-fault.ts';

interface InputFault {
  readonly code: JobCode;
  readonly message: string;
}

/** A caller that makes mistakes faster than it reads misses the rest. */
const MAX_WAITING = 16;

export class InputFaults {
  #waiting: InputFault[] = [];
  #woken = new AbortController();

  add(fault: InputFault): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(fault);
    this.wake();
  }

  wake(): void {
    this.#woken.abort();
  }

  take(): InputFault[] {
    const taken = this.#waiting;
    this.#waiting = [];
    if (this.#woken.signal.aborted) this.#woken = new AbortController();
    return taken;
  }

  /** Aborts at `add` and `wake` after the last `take`. */
  get signal(): AbortSignal {
    return this.#woken.signal;
  }
}

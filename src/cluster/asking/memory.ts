/** Shared by both sides of polling: how often a call is sent, and a count of kept bytes. */

/** Sends per call: one and five retries. */
export const MAX_SENDS = 6;

/** Bytes kept for sending again, over all peers. */
export class ByteBudget {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns false, and reserves nothing, when there is no room. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#limit) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

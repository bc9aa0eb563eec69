/** A change that is recorded in the journal before it is made. */
import type { Stats } from 'node:fs';

/** `cancel` removes it from the journal if the change fails. */
export interface Noted {
  cancel(): void;
  /** A warning for the caller. */
  readonly note?: string;
}

/** Keeps the before-image of the file that `made` is about to replace. */
export type KeepFirst = (made: Stats) => Promise<Noted>;

/** Runs the work; cancels the recorded change if it throws. */
export function cancelling<T>(noted: { cancel(): void } | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    noted?.cancel();
    throw error;
  }
}

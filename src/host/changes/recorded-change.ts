/** A change that is recorded in the journal before it is made. */
import type { FileLook } from '../walk/entry-kind.ts';

/** `cancel` removes it from the journal if the change fails. */
export interface Noted {
  cancel(): void;
  /** A warning for the caller. */
  readonly note?: string;
}

/** Keeps the file that a new one is about to replace: first its before-image, then the log line. */
export interface KeepFirst {
  /** Keeps the before-image. Returns the path of a hard link to the file; undefined if there is none. */
  link(): Promise<string | undefined>;
  /** Logs the change, right before `made` replaces the file. Call `link` first. */
  note(made: FileLook): Promise<Noted>;
}

/** Runs the work; cancels the recorded change if it throws. */
export function cancelling<T>(noted: { cancel(): void } | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    noted?.cancel();
    throw error;
  }
}

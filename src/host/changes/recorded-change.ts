/** A change that is recorded in the journal before it is made. */
import type { FileStat } from '../walk/entry-kind.ts';

/** `cancel` removes it from the journal if the change fails. */
export interface RecordedChange {
  cancel(): void;
  /** A warning for the caller. */
  readonly note?: string;
}

/** Keeps the file that a new one is about to replace: first its before-image, then the log line. */
export interface RecordFirst {
  /** Keeps the before-image. Returns the path of a hard link to the file; undefined if there is none. */
  link(): Promise<string | undefined>;
  /** Logs the change, right before `made` replaces the file. Call `link` first. */
  note(made: FileStat): Promise<RecordedChange>;
}

/** Runs the work; cancels the recorded change if it throws. */
export function cancelling<T>(recorded: { cancel(): void } | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    recorded?.cancel();
    throw error;
  }
}

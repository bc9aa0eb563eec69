/** Runs work that a signal aborts: the work cleans up, and the command exits without a stack trace. */
import { clearLine } from './live-line.ts';
import { untilSignal } from './until-signal.ts';

/** A shell's exit code for a command that SIGINT ended. */
const INTERRUPTED = 130;

export async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const control = new AbortController();
  void untilSignal().then(() => control.abort());
  try {
    return await work(control.signal);
  } catch (error) {
    if (!control.signal.aborted) throw error;
    clearLine();
    process.stderr.write('stopped\n');
    return INTERRUPTED;
  }
}

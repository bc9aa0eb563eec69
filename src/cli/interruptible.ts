/** Work of a command that a signal ends: it is told, cleans up, and the command exits without a stack trace. */
import { EXIT } from './exit-codes.ts';
import { clearProgress } from './image-cache.ts';
import { untilSignal } from './until-signal.ts';

export async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const control = new AbortController();
  void untilSignal().then(() => control.abort());
  try {
    return await work(control.signal);
  } catch (error) {
    if (!control.signal.aborted) throw error;
    clearProgress();
    process.stderr.write('stopped\n');
    return EXIT.failed;
  }
}

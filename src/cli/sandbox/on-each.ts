/** Runs one command for several sandboxes, one after the other; a failure of one is printed, and the others still run. */
import { CallError, type Bus } from '#contract';
import { EXIT } from '../exit-codes.ts';
import { tellFailure } from '../sandbox-command.ts';
import { findSandboxes } from './find-sandboxes.ts';

/** Returns the exit code of the first that did not succeed. */
export async function onEach(
  bus: Bus,
  words: readonly string[],
  work: (id: string, ids: readonly string[]) => Promise<number>,
): Promise<number> {
  const ids = await findSandboxes(bus, words);
  let exitCode: number = EXIT.ok;
  for (const id of ids) {
    const ended = await work(id, ids).catch((error: unknown) => {
      if (!(error instanceof CallError)) throw error;
      return tellFailure(error);
    });
    if (exitCode === EXIT.ok) exitCode = ended;
  }
  return exitCode;
}

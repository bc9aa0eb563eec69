/**
 * Runs one command for several sandboxes, one after the other; a failure of one is printed, and the others still run.
 */
import { CallError, type Bus } from '#contract';
import type { CommandInput } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findSandboxes } from './find-sandboxes.ts';
import { reportFailure, reportingFailures } from './sandbox-command.ts';

/** Returns the exit code of the first that did not succeed; `failed` is that of a failed call. */
export function forEachSandbox(
  options: CommandInput['options'],
  words: readonly string[],
  work: (bus: Bus, id: string, ids: readonly string[]) => Promise<number>,
  { failed = EXIT.failed }: { failed?: number } = {},
): Promise<number> {
  return reportingFailures(options, async (bus) => {
    const ids = await findSandboxes(bus, words);
    let exitCode: number = EXIT.ok;
    for (const id of ids) {
      const ended = await work(bus, id, ids).catch((error: unknown) => {
        if (!(error instanceof CallError)) throw error;
        return reportFailure(error, failed);
      });
      if (exitCode === EXIT.ok) exitCode = ended;
    }
    return exitCode;
  });
}

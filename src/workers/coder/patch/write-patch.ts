/** Plans a patch and writes it as one write set: all or nothing, even if the server is killed. */
import { posix } from 'node:path';

import type { CallScope } from '#contract';
import { SetConflict, type SetOutcome } from '#host';
import { errors } from '../errors.ts';
import type { Patch } from './patch.ts';
import { planPatch, type FileResult, type Plan, type Planning } from './plan-patch.ts';

/** Attempts to plan and write, if another program changes a file in between. */
const ATTEMPTS = 3;

export async function writePatch(
  patch: Patch,
  planning: Planning,
  { isDryRun, scope }: { isDryRun: boolean; scope: CallScope },
): Promise<{ results: (FileResult & { note?: string })[]; seq?: number }> {
  for (let attempt = 1; ; attempt++) {
    const plan = await planPatch(patch, planning);
    if (isDryRun) return { results: plan.results };

    const outcome = await write(plan, planning, scope);
    if (outcome instanceof SetConflict && attempt < ATTEMPTS) continue;
    if (outcome instanceof SetConflict) {
      const { path, expected, actual } = outcome;
      throw errors.fail('C221', { path, expected, actual, fix: planning.expected.fix(path, actual) }, outcome);
    }
    if (scope.noteChange) plan.changes().forEach(scope.noteChange);
    return { results: withNotes(plan.results, outcome), ...(outcome.seq !== undefined && { seq: outcome.seq }) };
  }
}

async function write({ entries }: Plan, { context }: Planning, scope: CallScope): Promise<SetOutcome | SetConflict> {
  const { signal, call, functionId } = scope;
  try {
    return await context.changes.writeSet(entries, { signal, call, functionId });
  } catch (error) {
    if (error instanceof SetConflict) return error;
    throw error;
  }
}

function withNotes(results: readonly FileResult[], { changes }: SetOutcome): (FileResult & { note?: string })[] {
  const notes = new Map(changes.map(({ path, note }) => [path, note]));
  return results.map((result) => {
    const note = notes.get(posix.normalize(result.path));
    return note === undefined ? result : { ...result, note };
  });
}

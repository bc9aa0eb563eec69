/** The change worker with its functions, in the order the documentation shows them. */
import { begin } from './functions/begin.ts';
import { commit } from './functions/commit.ts';
import { diff } from './functions/diff.ts';
import { discard } from './functions/discard.ts';
import { list } from './functions/list.ts';
import { change as worker } from './worker.ts';

export { probeChanges } from './probe-changes.ts';

export const change = worker.withFunctions([begin, list, diff, commit, discard]);

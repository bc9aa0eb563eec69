/** Recovery: rolls back the write sets that a killed process left unfinished. */
import { existsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openAbsoluteJail } from '../jail/jail.ts';
import type { View } from '../layers/layer.ts';
import type { Journal } from './journal.ts';
import { leftSets } from './prepared-file.ts';
import { takeBack, type TakenBack } from './set-steps.ts';

const DONE: TakenBack = { left: [], isFull: false };

/**
 * A set that is in the log was finished; recovery only removes its prepared file. Paths that another program changed
 * since then are not restored; recovery appends them to `not-taken-back` in the store.
 */
export async function recoverSets(journal: Journal, view?: View): Promise<void> {
  const { store, root } = journal;
  if (!existsSync(store.directory) || !journal.isAvailable) return;
  const sets = leftSets(store);
  if (sets.length === 0) return;

  // Workers wrote the paths relative to their base directory or absolute; this jail resolves both.
  const jail = openAbsoluteJail([root], { from: root, view });
  const finished = journal.records();
  for (const { name, seq, steps } of sets) {
    const { left, isFull } = finished.has(seq) ? DONE : await takeBack(jail, store, steps);
    // The next start tries again.
    if (isFull) continue;
    if (left.length > 0) writeFileSync(join(store.directory, 'not-taken-back'), `${left.join('\n')}\n`, { flag: 'a' });
    unlinkSync(store.pathOf('prepared', name));
  }
}

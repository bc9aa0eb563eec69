/**
 * One journal per directory, shared by all workers of this process over it.
 *
 * If the store cannot be created, files are changed without undo: a read-only home is not a reason to refuse an edit.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

import type { JournalConfig } from '#contract';
import type { View } from '../layers/layer.ts';
import { Journal } from './journal.ts';
import { recoverSets } from './recover.ts';

/** The configuration keys of a worker. */
export interface JournalNeeds {
  readonly state_dir?: string | null;
  /** Directory of the journal in place of `state_dir`: that of a change has its own. */
  readonly journal_dir?: string;
  /** No journal is kept if undefined. */
  readonly journal?: JournalConfig;
}

export interface SharedJournal {
  readonly journal: Journal;
  /** Settles after recovery: unfinished write sets of killed processes are rolled back. */
  readonly recovered: Promise<void>;
  release(): void;
}

const DAY_MS = 86_400_000;

interface OpenJournal extends Omit<SharedJournal, 'release'> {
  holders: number;
}

const open = new Map<string, OpenJournal>();

export function stateDirOf({ state_dir }: JournalNeeds, env: NodeJS.ProcessEnv = process.env): string {
  // An empty variable counts as unset: resolved as it is, it would be the current directory.
  return resolve(state_dir ?? join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'workcell'));
}

/** Opens the journal of `root` (canonical), or shares the open one; undefined if none is configured. */
export function shareJournal(root: string, needs: JournalNeeds, view?: View): SharedJournal | undefined {
  if (!needs.journal) return undefined;
  const stateDir = needs.journal_dir ?? stateDirOf(needs);
  const key = JSON.stringify([root, stateDir, needs.journal]);
  const shared = open.get(key) ?? openJournal(root, { stateDir, limits: limitsOf(needs.journal) }, view);
  shared.holders++;
  open.set(key, shared);
  return {
    ...shared,
    release() {
      if (--shared.holders > 0) return;
      open.delete(key);
      shared.journal.close();
    },
  };
}

function openJournal(root: string, options: ConstructorParameters<typeof Journal>[1], view?: View): OpenJournal {
  const journal = new Journal(root, options);
  return { journal, recovered: recoverSets(journal, view), holders: 0 };
}

function limitsOf({ max_bytes, max_records, max_age_days, max_image_bytes }: JournalConfig) {
  return {
    maxBytes: max_bytes,
    maxRecords: max_records,
    maxAgeMs: max_age_days * DAY_MS,
    // A larger image would be evicted at once.
    maxImageBytes: Math.min(max_image_bytes, max_bytes),
  };
}

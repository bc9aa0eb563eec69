/** What every kind of entry of a write set needs to become a step. */
import { readlinkSync, type Stats } from 'node:fs';

import type { Staged } from '../changes/stage.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Jail } from '../jail/jail.ts';
import type { Journal } from './journal.ts';
import { fileState, lookedAt, type OpenRecord } from './open-record.ts';
import type { PreparedFile } from './prepared-file.ts';
import { ABSENT, type State } from './records.ts';
import type { SetEntry } from './set-entry.ts';
import type { Step } from './set-steps.ts';

export interface PlanScope {
  readonly jail: Jail;
  readonly journal: Journal;
  readonly record: OpenRecord;
  readonly prepared: PreparedFile;
  readonly isSynced: boolean;
  /** Refuses paths through a symlink, even one that resolves inside the root. */
  readonly isExact: boolean;
  readonly signal: AbortSignal;
}

export interface Planned {
  readonly step: Step;
  /** Stat of the path when the step was planned. */
  readonly found: Stats | undefined;
  /** Writes the new file under a temporary name beside the path. */
  readonly stage?: (entry: JailEntry) => Promise<Staged> | Staged;
  /** The content of the new file, if it is known. */
  readonly content?: () => Uint8Array;
  /** Makes the change; if undefined, the staged file is renamed to the path. */
  readonly make?: (entry: JailEntry) => Promise<void> | void;
}

export type Of<Kind extends SetEntry['kind']> = Extract<SetEntry, { kind: Kind }>;

export function begin(entry: JailEntry, states: { before: State; after: State }, { jail, journal, isExact }: PlanScope): Step {
  if (isExact && jail.spell(entry) !== entry.path) throw new HostError('escape', entry.path);
  return { path: journal.pathFrom(jail.keyOf(entry)), at: jail.spell(entry), kind: 'put', ...states };
}

/** The current state of the path, with a name for the before-image that `makeStep` will keep. */
export function beforeOf(entry: JailEntry, { record }: PlanScope, version?: string): State {
  const { stat } = entry;
  if (!stat) return ABSENT;
  if (stat.isSymbolicLink()) return { kind: 'link', to: entry.act((at) => readlinkSync(at, 'latin1')) };
  if (!stat.isFile()) return lookedAt(stat);
  return { ...fileState(stat), image: record.nextName(), ...(version !== undefined && { version }) };
}

/** Creates missing parent directories, each as a step of its own. */
export async function makeParents(entry: JailEntry, { jail, journal, prepared, isSynced }: PlanScope): Promise<void> {
  const missing = entry.missingParents;
  const key = jail.keyOf(entry);
  const above = key.slice(0, key.length - entry.relativePath.length);
  for (const relativePath of missing) {
    prepared.add({
      path: journal.pathFrom(above + relativePath),
      at: jail.spell({ relativePath }),
      kind: 'put',
      before: ABSENT,
      after: { kind: 'directory', mode: 0o755 },
    });
  }
  if (missing.length > 0) await entry.makeParents({ isSynced });
}

/** The workspace below the changes: diff compares with it, and a commit changes it. */
import type { CellConfig } from '#contract';
import {
  JailChanges,
  jailsOf,
  openJail,
  pinsOf,
  stateDirOf,
  Workspace,
  type Jail,
  type Journal,
  type LayerScope,
  type OpenLayer,
  type WholePlan,
} from '#host';

export interface LiveWorkspace {
  readonly workspace: Workspace;
  readonly journal: Journal;
  readonly jail: Jail;
  /**
   * Changes files of the workspace; other open changes keep the files as they were. So does this one if it stays open
   * with the rest.
   */
  changesFor(layer: OpenLayer, plan: Pick<WholePlan, 'isForced' | 'isPart'>): JailChanges;
  /** The directories of a change that is entered. */
  scopeOf(layer: OpenLayer, signal: AbortSignal): LayerScope;
}

interface LiveOptions {
  readonly cell: CellConfig;
  readonly isSynced: boolean;
  readonly maxFiles: number;
}

/** Limits of searches, which the other workers over the directory set. */
const NO_SEARCH = { maxFileBytes: Number.MAX_SAFE_INTEGER, timeoutMs: 0 };

export function openWorkspace(root: string, { cell, isSynced, maxFiles }: LiveOptions): LiveWorkspace {
  const workspace = new Workspace(root, { ...cell, ...NO_SEARCH });
  const isProtected = (path: string) => workspace.protects(path);
  const jail = openJail(root, { isProtected });
  const stateDir = stateDirOf(cell);
  // Every cell configures one; where state_dir cannot be written, a commit fails with the reason `unsaved`.
  const journal = workspace.journal!;
  return {
    workspace,
    journal,
    jail,
    changesFor: ({ name }, { isForced, isPart }) =>
      new JailChanges(jail, {
        isSynced,
        journalOf: () => journal,
        // Paths overwritten by force get no pin: their content must not become the base.
        pins: pinsOf(root, { stateDir, ...((isForced || !isPart) && { except: name }) }),
      }),
    scopeOf: (layer, signal) => ({
      jails: jailsOf(layer, jail),
      beganAtCtimeNs: layer.beganAtCtimeNs,
      gitAtBegin: layer.gitAtBegin,
      isProtected,
      maxFiles,
      signal,
    }),
  };
}

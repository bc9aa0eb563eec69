/** Brings a state of the journal back: a file or symlink under a temporary name, a directory right at its path. */
import { mkdirSync } from 'node:fs';

import { bringTree } from '../changes/jail-copy.ts';
import { stageImage, stageLink, type Staged } from '../changes/stage.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { DirectoryState, FileState, LinkState } from './records.ts';
import type { ImageStore } from './store.ts';

export async function stageState(entry: JailEntry, store: ImageStore, state: FileState | LinkState): Promise<Staged> {
  return state.kind === 'file' ? await stageImage(entry, store, state) : stageLink(entry, state.to);
}

/** A removed directory with everything in it, or an empty one. */
export async function bringDirectory(
  entry: JailEntry,
  store: ImageStore,
  { tree, mode }: DirectoryState,
): Promise<void> {
  if (tree !== undefined) return await bringTree(entry, store, tree);
  entry.act((at) => mkdirSync(at, mode));
  entry.setPermissions({ mode });
}

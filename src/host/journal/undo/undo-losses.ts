/** Losses of an undo: before-images and removed directories that are missing or damaged in the store. */
import type { Journal } from '../journal.ts';
import type { DirectoryState, FileState } from '../records.ts';
import type { SetEntry } from '../set-entry.ts';

/** A path whose before-image is missing or damaged. */
export interface UndoLoss {
  readonly path: string;
  readonly problem: string;
}

type Scope = { readonly signal: AbortSignal };

export async function lossesOf(entries: readonly SetEntry[], { store }: Journal, scope: Scope): Promise<UndoLoss[]> {
  const losses: UndoLoss[] = [];
  for (const entry of entries) {
    if (entry.kind !== 'restore') continue;
    const { path, state } = entry;
    const problem =
      state.kind === 'file'
        ? await imageProblem(state, store)
        : state.kind === 'directory' && (await treeProblem(state, store, scope));
    if (problem) losses.push({ path, problem });
  }
  return losses;
}

const MISSING = 'is no longer in the journal';
const DAMAGED = 'was damaged in the journal';

async function imageProblem(state: FileState, store: Journal['store']): Promise<string | undefined> {
  const image = store.lstat('images', state.image!);
  if (!image) return MISSING;
  const isIntact =
    image.size === state.size &&
    (state.version === undefined || (await store.versionOf(state.image!)) === state.version);
  return isIntact ? undefined : DAMAGED;
}

async function treeProblem({ tree, contents }: DirectoryState, store: Journal['store'], scope: Scope) {
  if (tree === undefined) return undefined;
  if (!store.lstat('trees', tree)) return MISSING;
  return contents === undefined || (await store.contentsOf(tree, scope)) === contents ? undefined : DAMAGED;
}

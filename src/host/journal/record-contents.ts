/** Contents of a file before and after a recorded change, where the journal still has them. */
import { isUtf8 } from 'node:buffer';

import type { Change, ChangeHunk } from '#protocol';
import { versionOf } from '../changes/jail-version.ts';
import { hunksOf } from '../changes/line-hunks.ts';
import { HostError } from '../host-error.ts';
import type { Jail } from '../jail/jail.ts';
import { applyDelta } from './delta.ts';
import type { Journal } from './journal.ts';
import type { FileState, JournalChange, State } from './records.ts';

/** Larger files are listed without a diff. */
const MAX_SHOWN_BYTES = 256 * 1024;

const NOTHING = Buffer.alloc(0);

/** Reads the before-image; undefined if it is missing or damaged, and empty if there was no file. */
export function formerContent({ store }: Journal, before: State): Buffer | undefined {
  if (before.kind === 'absent') return NOTHING;
  if (before.kind !== 'file' || before.image === undefined || !store.lstat('images', before.image)) return undefined;
  const content = store.read(before.image);
  return before.version === undefined || versionOf(content) === before.version ? content : undefined;
}

/** Returns the content after a change: from its delta, or from the before-image of the next change of the path. */
export function leftContent(
  journal: Journal,
  path: string,
  { before, after }: Pick<JournalChange, 'before' | 'after'>,
) {
  if (after.kind !== 'file' || after.version === undefined) return undefined;
  const former = formerContent(journal, before);
  const left = after.delta && former ? applyDelta(former, after.delta) : laterImage(journal, path, after);
  return left && versionOf(left) === after.version ? left : undefined;
}

function laterImage(journal: Journal, path: string, { version }: FileState): Buffer | undefined {
  for (const state of version === undefined ? [] : journal.imagesOf(path, version)) {
    const content = formerContent(journal, state);
    if (content) return content;
  }
  return undefined;
}

export interface ShownChange extends Pick<Change, 'path' | 'kind' | 'from'> {
  readonly hunks?: ChangeHunk[];
  readonly is_cut?: boolean;
}

/** Formats a change for coder::checkpoints: its kind, and a diff if both contents are known. */
export function showChange(journal: Journal, jail: Jail, change: JournalChange): ShownChange {
  const { path, from, before, after } = change;
  const shown = { path, kind: kindOf(change), ...(from !== undefined && { from }) };
  // The record may be older than the protection of its file.
  if ([path, from ?? path].some(jail.isClosed)) return shown;
  const sizes = [before, after].map((state) => (state.kind === 'file' ? state.size : 0));
  if (change.kind !== 'put' || Math.max(...sizes) > MAX_SHOWN_BYTES) return shown;
  const was = formerContent(journal, before) ?? contentElsewhere(journal, jail, path, before);
  const is = nowContent(journal, jail, change);
  if (!was || !is || !isUtf8(was) || !isUtf8(is) || was.includes(0) || is.includes(0)) return shown;
  const { hunks, isCut } = hunksOf(was.toString(), is.toString());
  return { ...shown, hunks, ...(isCut && { is_cut: true }) };
}

function nowContent(journal: Journal, jail: Jail, change: JournalChange): Buffer | undefined {
  const { path, after } = change;
  if (after.kind === 'absent') return NOTHING;
  return leftContent(journal, path, change) ?? currentContent(jail, path, after);
}

/** Finds a former content that an undo moved back into the workspace: in the file, or in a later record. */
function contentElsewhere(journal: Journal, jail: Jail, path: string, state: State): Buffer | undefined {
  if (state.kind !== 'file' || state.version === undefined) return undefined;
  return currentContent(jail, path, state) ?? laterImage(journal, path, state);
}

/** Reads the file itself, if it still has the version that the change wrote. */
function currentContent(jail: Jail, path: string, after: State): Buffer | undefined {
  try {
    using file = jail.open(path);
    if (after.kind !== 'file' || file.size !== after.size) return undefined;
    const bytes = Buffer.allocUnsafe(file.size);
    const content = bytes.subarray(0, file.readAt(bytes, 0));
    return versionOf(content) === after.version ? content : undefined;
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

function kindOf({ kind, before, after }: JournalChange): Change['kind'] {
  if (kind === 'mode') return 'mode';
  if (kind === 'move') return 'renamed';
  if (after.kind === 'absent') return 'deleted';
  return before.kind === 'absent' ? 'created' : 'modified';
}

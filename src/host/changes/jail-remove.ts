/**
 * Removes an entry, with everything below if `recursive`.
 *
 * Directories are kept open while they are emptied, and symlinks are removed, not followed. A protected entry anywhere
 * below fails the call before anything is removed.
 */
import { rmdirSync, unlinkSync } from 'node:fs';

import { HostError } from '../host-error.ts';
import { changeBelow, spellBelow, type BelowOptions, type Changes } from '../jail/jail-tree-walk.ts';
import { refuseNamesBelow } from '../jail/check-tree-names.ts';
import type { ChangeRecorder } from './change-recorder.ts';
import { cancelling } from './recorded-change.ts';
import { ABSENT } from '../journal/records.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { NoteChange } from './note-change.ts';
import { applyPermissions } from './permissions.ts';

interface RemoveOptions extends BelowOptions {
  readonly recursive: boolean;
  readonly recorder?: ChangeRecorder;
  /** Receives a report of each removed entry below. */
  readonly notePart?: NoteChange;
  /** Receives a note for the caller if undo cannot restore the file. */
  readonly addNote?: ((note: string) => void) | undefined;
}

/** Returns false if the path is missing. */
export async function removeEntry(entry: JailEntry, options: RemoveOptions): Promise<boolean> {
  if (entry.isRoot) throw new HostError('root', entry.path);
  if (!entry.stat) return false;

  if (!entry.stat.isDirectory()) {
    const recorded = await options.recorder?.put(entry, ABSENT);
    cancelling(recorded, () => entry.act(unlinkSync));
    if (recorded?.note !== undefined) options.addNote?.(recorded.note);
    return true;
  }
  let count = 0;
  if (!options.recursive) refuseFull(entry);
  else count = await refuseNamesBelow(entry, options);
  // With a journal the directory is renamed into its store, however many entries it has.
  if (await options.recorder?.takeTree(entry, count)) return true;

  using dir = entry.openDir();
  if (options.recursive) {
    await changeBelow(dir, options, {
      after(parent, name, stat) {
        removeIn(parent, name, stat);
        const isDirectory = stat.kind === 'directory' && { is_directory: true };
        options.notePart?.({ path: spellBelow(entry, parent.pathOf(name)), kind: 'deleted', ...isDirectory });
      },
    });
  }
  entry.act((at) => rmdirSync(at));
  return true;
}

function refuseFull(entry: JailEntry): void {
  using dir = entry.openDir();
  for (const names of dir.allNames()) if (names.length > 0) throw new HostError('not-empty', entry.path);
}

/** Removes a temporary file or directory that was not renamed to its final path, whatever modes its entries have. */
export async function removeMade(entry: JailEntry): Promise<void> {
  if (!entry.stat) return;
  if (!entry.stat.isDirectory()) return entry.act(unlinkSync);

  using dir = entry.openDir();
  // Another program has put its own directory there.
  if (dir.stat.ino !== entry.stat.ino) return;
  applyPermissions(dir.pin, OWN);
  await changeBelow(dir, WHOLE, { before: (parent, name) => parent.setPermissions(name, OWN), after: removeIn });
  entry.act((at) => rmdirSync(at));
}

const OWN = { mode: 0o700 };

/** Never aborted: the removal also cleans up after a caller that aborted. */
const WHOLE: BelowOptions = { refusal: () => undefined, signal: new AbortController().signal };

const removeIn: Changes['after'] = (parent, name, { kind }) =>
  parent.remove(name, kind === 'directory' ? 'directory' : 'other');

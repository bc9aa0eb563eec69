/**
 * Removing what stands at an entry, with everything below when asked to.
 *
 * Directories are held while they are emptied, and links are removed, not followed. A protected entry anywhere
 * below is found before anything is gone.
 */
import { rmdirSync, unlinkSync } from 'node:fs';

import { HostError } from '../host-error.ts';
import { changeBelow, refuseProtectedBelow, spellBelow, type BelowOptions, type Changes } from '../jail/jail-below.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { NoteChange } from './note-change.ts';
import { applyPermissions } from './permissions.ts';

/** Whether there was anything. `notePart` takes the report of each entry below that is gone. */
export async function removeEntry(
  entry: JailEntry,
  options: BelowOptions & { recursive: boolean; notePart?: NoteChange },
): Promise<boolean> {
  if (entry.isRoot) throw new HostError('root', entry.path);
  if (!entry.stat) return false;

  if (!entry.stat.isDirectory()) {
    entry.act(unlinkSync);
    return true;
  }
  if (options.recursive) {
    await refuseProtectedBelow(entry, options);
    using dir = entry.openDir();
    const { notePart } = options;
    await changeBelow(dir, options, {
      after(parent, name, kind) {
        removeIn(parent, name, kind);
        const isDirectory = kind === 'directory' && { is_directory: true };
        notePart?.({ path: spellBelow(entry, parent.pathOf(name)), kind: 'deleted', ...isDirectory });
      },
    });
  }
  entry.act((at) => rmdirSync(at));
  return true;
}

/** Takes away what was made under a name of its own and never put in its place, whatever modes it got already. */
export async function removeMade(entry: JailEntry): Promise<void> {
  if (!entry.stat) return;
  if (!entry.stat.isDirectory()) return entry.act(unlinkSync);

  using dir = entry.openDir();
  // Another one by now, which is not ours to empty.
  if (dir.stat.ino !== entry.stat.ino) return;
  applyPermissions(dir.pin, OWN);
  await changeBelow(dir, WHOLE, { before: (parent, name) => parent.setPermissions(name, OWN), after: removeIn });
  entry.act((at) => rmdirSync(at));
}

const OWN = { mode: 0o700 };

/** Also when the caller gave up: nobody else would remove it. */
const WHOLE: BelowOptions = { refusal: () => undefined, signal: new AbortController().signal };

const removeIn: Changes['after'] = (parent, name, kind) =>
  parent.remove(name, kind === 'directory' ? 'directory' : 'other');

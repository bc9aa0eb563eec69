/**
 * Permission bits and owners, of one entry or of everything below it.
 *
 * Links are passed over: what they lead to is not below. A directory that its owner may look into afterwards is changed
 * before what is in it, any other one after, so that both opening a tree and closing it work.
 */
import { HostError } from '../host-error.ts';
import { refuseProtectedBelow, changeBelow, spellBelow, type BelowOptions } from '../jail/jail-below.ts';
import type { JailDir } from '../jail/jail-dir.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { ByteString } from '../text/byte-string.ts';
import type { NoteChange } from './note-change.ts';
import type { Permissions } from './permissions.ts';

const OWNER_LOOKS = 0o500;

/** How many entries were changed, the one that was named included. `notePart` takes the report of each of them. */
export async function setPermissionsBelow(
  entry: JailEntry,
  permissions: Permissions,
  { notePart, ...options }: BelowOptions & { notePart?: NoteChange },
): Promise<number> {
  if (entry.stat?.isSymbolicLink()) throw new HostError('not-a-directory', entry.path);
  // What cannot be seen yet is looked at again once it can.
  await refuseProtectedBelow(entry, { ...options, unreadable: 'pass' });

  const isBefore = (permissions.mode & OWNER_LOOKS) === OWNER_LOOKS;
  const set = (parent: JailDir, name: ByteString) => {
    parent.setPermissions(name, permissions);
    notePart?.({ path: spellBelow(entry, parent.pathOf(name)), kind: 'mode' });
  };
  if (isBefore || !entry.stat?.isDirectory()) entry.setPermissions(permissions);
  if (!entry.stat?.isDirectory()) return 1;
  if (isBefore) notePart?.({ path: entry.path, kind: 'mode' });

  let changed = 1;
  using dir = entry.openDir();
  await changeBelow(dir, options, {
    before(parent, name) {
      if (isBefore) set(parent, name);
    },
    after(parent, name, kind) {
      if (kind === 'symlink') return;
      if (!isBefore || kind !== 'directory') set(parent, name);
      changed++;
    },
  });
  if (!isBefore) entry.setPermissions(permissions);
  return changed;
}

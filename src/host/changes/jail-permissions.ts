/**
 * Sets permission bits and owners of a directory and everything below it.
 *
 * Symlinks are skipped: their targets are not below. If the new mode lets the owner list a directory, the directory is
 * changed before its entries, otherwise after them, so that a tree can be both opened and closed.
 */
import { lstatSync, type Stats } from 'node:fs';

import { HostError } from '../host-error.ts';
import { refuseProtectedBelow, changeBelow, spellBelow, type BelowOptions } from '../jail/jail-tree-walk.ts';
import type { JailDir } from '../jail/jail-dir.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { ByteString } from '../text/byte-string.ts';
import type { NoteChange } from './note-change.ts';
import type { Permissions } from './permissions.ts';

/** An entry below; `path` is relative to the root of the jail. */
export interface Below {
  readonly path: string;
  readonly stat: Stats;
}

const OWNER_READS = 0o500;

/** Returns the number of changed entries, with `entry` itself. `notePart` receives a report of each. */
export async function setPermissionsBelow(
  entry: JailEntry,
  permissions: Permissions,
  {
    keepAll,
    notePart,
    ...options
  }: BelowOptions & { keepAll: (changed: readonly Below[]) => void; notePart?: NoteChange },
): Promise<number> {
  if (entry.stat?.isSymbolicLink()) throw new HostError('not-a-directory', entry.path);
  // Skips directories that are unreadable now; they are checked again once the new mode opens them.
  const below: Below[] = [];
  await refuseProtectedBelow(entry, { ...options, unreadable: 'pass' }, (parent, name, { kind }) => {
    if (kind !== 'symlink') below.push({ path: parent.pathOf(name), stat: lstatSync(parent.pin.at(name)) });
  });
  keepAll(below);

  const isBefore = (permissions.mode & OWNER_READS) === OWNER_READS;
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
    after(parent, name, { kind }) {
      if (kind === 'symlink') return;
      if (!isBefore || kind !== 'directory') set(parent, name);
      changed++;
    },
  });
  if (!isBefore) entry.setPermissions(permissions);
  return changed;
}

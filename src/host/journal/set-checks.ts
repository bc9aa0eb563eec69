/** What a write set checks before it changes a path: that the caller saw this file, its version, and what is below. */
import { versionOf } from '../changes/jail-version.ts';
import { TreeSum } from '../changes/tree-sum.ts';
import { HostError } from '../host-error.ts';
import { refuseProtectedBelow } from '../jail/jail-below.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Jail } from '../jail/jail.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { NOTHING_THERE, SetConflict, type Seen } from './set-entry.ts';

/** Resolves the path of a step again; throws if another program has put a symlink into it meanwhile. */
export function findAgain({ at }: { readonly at: string }, jail: Jail): JailEntry {
  const entry = jail.entry(at);
  if (jail.spell(entry) === at) return entry;
  entry.close();
  throw HostError.fromErrno(changedMeanwhile('ESTALE'), at);
}

export function requireSeen(entry: JailEntry, seen: Seen | undefined): void {
  if (seen === undefined) return;
  const { stat } = entry;
  const was = seen === 'nothing' ? undefined : seen;
  const isSame = stat?.ino === was?.ino && stat?.size === was?.size && stat?.mtimeMs === was?.mtimeMs;
  // The mtime of a directory changes with its entries, and this set may have changed them; its inode is compared only.
  if (!isSame && !(stat?.isDirectory() && stat.ino === was?.ino)) {
    throw HostError.fromErrno(changedMeanwhile('ESTALE'), entry.path);
  }
}

/** Reads the current version if the entry expects one or the caller needs it; throws `SetConflict` on a mismatch. */
export async function checked(
  entry: JailEntry,
  expected: string | undefined,
  { isNeeded = false } = {},
): Promise<string | undefined> {
  if (expected === undefined && !isNeeded) return undefined;
  const actual = await versionAt(entry);
  if (expected !== undefined && actual !== expected) throw new SetConflict(entry.path, { expected, actual });
  return actual === NOTHING_THERE ? undefined : actual;
}

async function versionAt(entry: JailEntry): Promise<string> {
  if (!entry.stat) return NOTHING_THERE;
  using file = entry.open();
  return versionOf(await file.read());
}

/** Sums everything below a directory; throws if any entry in it is protected. */
export async function contentsOf(
  entry: JailEntry,
  { jail: { refusal }, signal }: { readonly jail: Jail; readonly signal: AbortSignal },
): Promise<string> {
  const sum = new TreeSum();
  const start = entry.relativePath.length + 1;
  await refuseProtectedBelow(entry, { refusal, signal }, (dir, name, look) =>
    sum.add(dir.pathOf(name).slice(start), look),
  );
  return sum.value;
}

export function isEmpty(entry: JailEntry): boolean {
  using dir = entry.openDir();
  for (const names of dir.allNames()) if (names.length > 0) return false;
  return true;
}

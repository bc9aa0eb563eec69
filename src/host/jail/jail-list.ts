/**
 * Lists everything below a directory of the jail, sorted by name, with kinds.
 *
 * The kind comes from readdir, which saves a stat per entry. Symlinks are listed and not followed, and every directory
 * down to an entry is pinned, so a walk that starts inside the jail stays inside.
 */
import type { ByteString } from '../text/byte-string.ts';
import type { EntryKind } from '../walk/entry-kind.ts';
import { HostError } from '../host-error.ts';
import type { JailDir } from './jail-dir.ts';
import { Turns } from '../search/turns.ts';
import { isGone, MAX_DEPTH } from '../walk/walk.ts';

export interface ListedEntry {
  readonly name: ByteString;
  readonly kind: EntryKind;
}

/** Next step after an entry; `pass` skips everything below it. */
export type NextStep = 'go-on' | 'pass' | 'stop';

const TURN_MS = 5;

/** Entries between two checks of the clock, which costs as much as several entries. */
const ENTRIES_BETWEEN_CHECKS = 64;

/** Visits everything below a directory, each directory before its contents. Skips contents that cannot be read. */
export async function visitBelow(
  top: JailDir,
  { signal }: { readonly signal: AbortSignal },
  visit: (dir: JailDir, entry: ListedEntry) => NextStep,
): Promise<void> {
  const turns = new Turns(signal, TURN_MS);
  let sinceCheck = 0;

  async function visitIn(dir: JailDir, depth: number): Promise<'done' | 'stopped'> {
    for (const entry of await sortedEntries(dir, turns, { mayBeUnreadable: depth > 1 })) {
      if (++sinceCheck % ENTRIES_BETWEEN_CHECKS === 0 && turns.isOver) await turns.next();
      const step = visit(dir, entry);
      if (step === 'stop') return 'stopped';
      if (step === 'pass' || entry.kind !== 'directory' || depth === MAX_DEPTH) continue;

      using inner = openIfThere(dir, entry.name);
      if (inner && (await visitIn(inner, depth + 1)) === 'stopped') return 'stopped';
    }
    return 'done';
  }

  await visitIn(top, 1);
}

async function sortedEntries(
  dir: JailDir,
  turns: Turns,
  { mayBeUnreadable }: { mayBeUnreadable: boolean },
): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  try {
    for (const batch of dir.entries()) {
      for (const entry of batch) entries.push(entry);
      if (turns.isOver) await turns.next();
    }
  } catch (error) {
    if (!mayBeUnreadable) throw error;
    passIfUnreadable(error);
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Undefined for a directory that was removed, replaced or is not readable: it is listed without contents. */
function openIfThere(dir: JailDir, name: ByteString): JailDir | undefined {
  try {
    return dir.openDir(name);
  } catch (error) {
    passIfUnreadable(error);
    return undefined;
  }
}

function passIfUnreadable(error: unknown): void {
  const isPassed = error instanceof HostError && (isGone(error.reason) || error.reason === 'denied');
  if (!isPassed) throw error;
}

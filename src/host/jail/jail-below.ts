/** Everything below a directory of the jail, each directory held while it is gone through, with turns for others. */
import type { ByteString } from '../text/byte-string.ts';
import { HostError, type HostReason } from '../host-error.ts';
import type { JailDir } from './jail-dir.ts';
import type { JailEntry } from './jail-entry.ts';
import type { EntryKind } from '../walk/entry-kind.ts';
import { Turns } from '../search/turns.ts';

const TURN_MS = 5;

export interface BelowOptions {
  /** Why a canonical path must not be touched, if it must not. */
  refusal: (relativePath: string) => HostReason | undefined;
  signal: AbortSignal;
  /** What becomes of a directory that may not be looked into: a failure unless it is passed. */
  unreadable?: 'fail' | 'pass';
}

export interface Changes {
  /** A directory before anything in it. */
  before?(dir: JailDir, name: ByteString): void;
  /** Anything, a directory after everything in it. */
  after(dir: JailDir, name: ByteString, kind: EntryKind): void;
}

/** How the caller of a change spells what is below the entry; `relativePath` is from the root. */
export function spellBelow(
  { path, relativePath: top }: Pick<JailEntry, 'path' | 'relativePath'>,
  relativePath: string,
) {
  return `${path.replace(/\/+$/, '')}/${relativePath.slice(top.length + 1)}`;
}

/** Fails at the first entry that must not be touched, so what may not be touched in part is checked as a whole before. */
export async function changeBelow(top: JailDir, options: BelowOptions, changes: Changes): Promise<void> {
  const turns = new Turns(options.signal, TURN_MS);
  await goInto(top);

  async function goInto(dir: JailDir): Promise<void> {
    // All names first: what goes while a directory is read may hide what is left in it.
    for (const name of await allNames(dir, turns, options)) {
      if (turns.isOver) await turns.next();
      const path = dir.pathOf(name);
      const refusal = options.refusal(path);
      if (refusal) throw new HostError(refusal, path);
      const kind = dir.look(name)?.kind;
      if (!kind) continue;

      if (kind === 'directory') {
        changes.before?.(dir, name);
        using inner = dir.openDir(name);
        await goInto(inner);
      }
      changes.after(dir, name, kind);
    }
  }
}

/** Throws when something below a directory must not be touched. Anything but a directory has nothing below. */
export async function refuseProtectedBelow(entry: JailEntry, options: BelowOptions): Promise<void> {
  if (!entry.stat?.isDirectory()) return;
  using dir = entry.openDir();
  await changeBelow(dir, options, { after() {} });
}

async function allNames(dir: JailDir, turns: Turns, { unreadable }: BelowOptions): Promise<ByteString[]> {
  const names: ByteString[] = [];
  try {
    for (const batch of dir.allNames()) {
      for (const name of batch) names.push(name);
      if (turns.isOver) await turns.next();
    }
  } catch (error) {
    const isPassed = unreadable === 'pass' && error instanceof HostError && error.reason === 'denied';
    if (!isPassed) throw error;
  }
  return names;
}

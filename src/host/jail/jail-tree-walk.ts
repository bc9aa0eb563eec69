/** Walks everything below a directory of the jail; each directory stays open meanwhile, and other calls get turns. */
import type { ByteString } from '../text/byte-string.ts';
import { HostError, type HostReason } from '../host-error.ts';
import type { JailDir } from './jail-dir.ts';
import type { JailEntry } from './jail-entry.ts';
import type { EntryStat } from '../walk/entry-kind.ts';
import { Turns } from '../search/turns.ts';

const TURN_MS = 5;

export interface BelowOptions {
  /** The reason to refuse a canonical path; undefined if it may be touched. */
  refusal: (relativePath: string) => HostReason | undefined;
  signal: AbortSignal;
  /** Whether a directory that cannot be listed for lack of permission fails the walk (default) or is skipped. */
  unreadable?: 'fail' | 'pass';
}

export interface Changes {
  /** Called for a directory before its contents. */
  before?(dir: JailDir, name: ByteString): void;
  /** Called for every entry; for a directory after its contents. */
  after(dir: JailDir, name: ByteString, stat: EntryStat): void;
}

/** The path of something below the entry in the caller's spelling; `relativePath` is from the root. */
export function spellBelow(
  { path, relativePath: top }: Pick<JailEntry, 'path' | 'relativePath'>,
  relativePath: string,
) {
  return `${path.replace(/\/+$/, '')}/${relativePath.slice(top.length + 1)}`;
}

/** Fails at the first refused entry; a change that must not be partial calls `refuseProtectedBelow` first. */
export async function changeBelow(top: JailDir, options: BelowOptions, changes: Changes): Promise<void> {
  const turns = new Turns(options.signal, TURN_MS);
  await goInto(top);

  async function goInto(dir: JailDir): Promise<void> {
    // Reads all names first: removing entries while a directory is read can make readdir skip others.
    for (const name of await allNames(dir, turns, options)) {
      if (turns.isOver) await turns.next();
      const path = dir.pathOf(name);
      const refusal = options.refusal(path);
      if (refusal) throw new HostError(refusal, path);
      const stat = dir.lstat(name);
      if (!stat) continue;

      if (stat.kind === 'directory') {
        changes.before?.(dir, name);
        using inner = dir.openDir(name);
        await goInto(inner);
      }
      changes.after(dir, name, stat);
    }
  }
}

/**
 * Throws if any entry below a directory is refused; calls `see` for each. Does nothing for an entry that is not a
 * directory.
 */
export async function refuseProtectedBelow(
  entry: JailEntry,
  options: BelowOptions,
  see: Changes['after'],
): Promise<void> {
  if (!entry.stat?.isDirectory()) return;
  using dir = entry.openDir();
  await changeBelow(dir, options, { after: see });
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

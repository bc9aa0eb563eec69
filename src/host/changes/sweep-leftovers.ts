/**
 * Removes temporary files that killed processes left anywhere below the roots of a jail.
 *
 * Runs once per root, shortly after the start, so that no call waits for it. The first write in a directory sweeps that
 * directory itself (`atomic-write-temp.ts`).
 */
import { isLeft, isTempName } from './atomic-write-temp.ts';
import { HostError } from '../host-error.ts';
import { visitBelow } from '../jail/jail-list.ts';
import { removeMade } from './jail-remove.ts';
import { openAbsoluteJail, type Jail, type JailMode } from '../jail/jail.ts';

const DELAY_MS = 1000;

/** Most entries visited; in a larger root the first write in each directory sweeps the rest. */
const MAX_ENTRIES = 1_000_000;

/** Roots already swept: several workers share a root. */
const seen = new Set<string>();

/** Schedules the sweep; disposing the result stops it. */
export function sweepSoon({ roots, mode, view }: Pick<Jail, 'roots' | 'mode' | 'view'>): Disposable {
  const ending = new AbortController();
  // In a change only the first writes sweep: its files are few, and those below belong to the workspace.
  const unseen = view ? [] : roots.filter((root) => root !== '/' && !seen.has(root));
  for (const root of unseen) seen.add(root);
  const timer = setTimeout(() => {
    for (const root of unseen) void sweepBelow(root, mode, ending.signal).catch(ignoreHost);
  }, DELAY_MS).unref();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      ending.abort(ENDED);
    },
  };
}

const ENDED = new Error('the sweep was ended');

async function sweepBelow(root: string, mode: JailMode, signal: AbortSignal): Promise<void> {
  const jail = openAbsoluteJail([root], { mode });
  const found: string[] = [];
  let count = 0;
  {
    using dir = jail.openDir(root);
    await visitBelow(dir, { signal }, (parent, { name }) => {
      const isTemp = isTempName(name);
      if (isTemp) found.push(`/${parent.pathOf(name)}`);
      if (++count > MAX_ENTRIES) return 'stop';
      return isTemp ? 'pass' : 'go-on';
    });
  }
  for (const path of found) await removeIfLeft(jail, path).catch(ignoreHost);
}

async function removeIfLeft(jail: Jail, path: string): Promise<void> {
  using entry = jail.entry(path);
  if (entry.stat && isLeft(path.slice(path.lastIndexOf('/') + 1), entry.stat)) await removeMade(entry);
}

/** Ignores entries that cannot be read or removed: a write there reports the error. */
function ignoreHost(error: unknown): void {
  if (!(error instanceof HostError) && error !== ENDED) throw error;
}

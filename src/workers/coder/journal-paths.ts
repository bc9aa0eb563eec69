/** The journal of base_path, and paths of a request in the spelling of its records. */
import type { Journal } from '#host';
import { errors } from './errors.ts';
import type { CoderContext } from './worker.ts';

/** Throws C224 if no journal is kept. */
export function requireJournal({ workspace: { journal } }: CoderContext): Journal {
  if (journal?.isKept) return journal;
  const isOff = journal?.limits.maxRecords === 0;
  const reason = isOff ? '`journal.max_records` is 0' : '`state_dir` cannot be written';
  throw errors.fail('C224', { problem: `nothing is recorded for undo, because ${reason}` });
}

/** Throws like every other function for a path that is protected or outside of base_path. */
export function journalPaths(paths: readonly string[], { jail }: CoderContext): string[] {
  return paths.map((path) => {
    using entry = jail.entry(path);
    return entry.relativePath;
  });
}

/** Whether a path of a record is one of these or below; undefined for all. */
export function pathFilter(paths: readonly string[] | undefined, context: CoderContext) {
  const wanted = paths && journalPaths(paths, context);
  return wanted && ((path: string) => wanted.some((one) => one === '' || path === one || path.startsWith(`${one}/`)));
}

/** Runs write sets of one jail: takes the locks, opens the journal record, and reports the changes. */
import type { Change } from '#protocol';
import { HostError } from '../host-error.ts';
import type { Jail } from '../jail/jail.ts';
import type { Journal } from '../journal/journal.ts';
import type { SetChange, SetEntry, SetOutcome } from '../journal/set-entry.ts';
import { runSet } from '../journal/write-set.ts';
import { fileLocks } from './file-locks.ts';
import type { ChangeScope, JailChangesOptions } from './jail-changes.ts';
import { comparable, contentChange } from './note-change.ts';

/** Marks a write set as an undo: it gets a record of its own and never follows a symlink. */
export interface UndoneBy {
  readonly undoes: readonly number[];
  /** By record: the paths that are undone, if others of that record are not. */
  readonly undoesOnly?: Readonly<Record<number, readonly string[]>>;
}

type SetWriterOptions = JailChangesOptions & Required<Pick<JailChangesOptions, 'journalOf'>>;

export class SetWriter {
  readonly #jail: Jail;
  readonly #options: SetWriterOptions;

  constructor(jail: Jail, options: SetWriterOptions) {
    this.#jail = jail;
    this.#options = options;
  }

  async write(entries: readonly SetEntry[], scope: ChangeScope, undo?: UndoneBy): Promise<SetOutcome> {
    const paths = entries.flatMap((entry) => (entry.kind === 'move' ? [entry.path, entry.to] : [entry.path]));
    const [first = '.'] = paths;
    const journal = this.journalOf(first);
    if (!journal?.isAvailable) throw new HostError('unsaved', first);
    const keyOf = new Map<string, string>();
    const locked = this.#keysOf(paths, keyOf);
    return fileLocks.run(locked, async () => {
      await this.#options.pins?.(locked);
      const reports = scope.noteChange && (await this.#reportsOf(entries));
      const { isSynced } = this.#options;
      const record = undo ? journal.begin(scope, undo) : journal.recordOf(scope);
      const how = { jail: this.#jail, keyOf, isSynced, isExact: undo !== undefined, signal: scope.signal };
      const outcome = await runSet(entries, { ...how, journal, record });
      for (const change of outcome.changes) scope.noteChange?.(reports?.get(change.path)?.() ?? changeOf(change));
      return outcome;
    });
  }

  journalOf(path: string): Journal | undefined {
    using entry = this.#jail.entry(path);
    return this.#options.journalOf(this.#jail.keyOf(entry));
  }

  /** Lock keys of the paths themselves, added to `keyOf`, and of the files that symlinks resolve to. */
  #keysOf(paths: readonly string[], keyOf: Map<string, string>): string[] {
    const keys = new Set<string>();
    for (const path of paths) {
      try {
        using entry = this.#jail.entry(path);
        const key = this.#jail.keyOf(entry);
        keyOf.set(path, key);
        keys.add(key);
        if (!entry.stat?.isSymbolicLink()) continue;
        using target = this.#jail.target(path);
        keys.add(this.#jail.keyOf(target));
      } catch (error) {
        // The write set reports the error when it resolves the path.
        if (!(error instanceof HostError)) throw error;
      }
    }
    return [...keys];
  }

  /** Reads each file that will be written; returns a function per path that builds its report after the write. */
  async #reportsOf(entries: readonly SetEntry[]): Promise<Map<string, () => Change | undefined>> {
    const reports = new Map<string, () => Change | undefined>();
    for (const entry of entries) {
      if (entry.kind !== 'write') continue;
      using target = this.#jail.target(entry.path);
      const before = await comparable(target);
      const { stat } = target;
      const path = this.#jail.spell(target);
      reports.set(path, () => contentChange({ path, stat }, before, entry.content));
    }
    return reports;
  }
}

function changeOf({ path, kind, from }: SetChange): Change {
  return { path, kind: kind === 'moved' ? 'renamed' : kind, ...(from !== undefined && { from }) };
}

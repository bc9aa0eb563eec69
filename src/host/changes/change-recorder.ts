/**
 * Records a change in the journal before it is made: keeps the before-image and logs the change.
 *
 * Every change of a file by any function passes here once. Without a journal nothing is kept.
 */
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { deltaOf } from '../journal/delta.ts';
import { fileState, stateOfStat, type OpenRecord } from '../journal/open-record.ts';
import { ABSENT, isLost, type JournalChange, type Origin, type State } from '../journal/records.ts';
import type { Below } from './jail-permissions.ts';
import { takeTree } from './jail-copy.ts';
import { removeMade } from './jail-remove.ts';
import type { RecordFirst, RecordedChange } from './recorded-change.ts';
import type { Permissions } from './permissions.ts';
import { recentVersions } from './recent-versions.ts';
import { sumBelow } from './tree-sum.ts';

/** The journal of a canonical absolute path; undefined where none is kept. */
export type FindJournal = (path: string) => Journal | undefined;

const TOO_LARGE =
  'the former content is larger than journal.max_image_bytes or cannot be read, so undo cannot bring it back';

/** Facts about the replaced file and the new one. */
interface FileVersions {
  readonly before?: Uint8Array;
  readonly content?: Uint8Array;
  /** Returns the new version; called once the file is complete. */
  readonly version: () => string | undefined | Promise<string | undefined>;
}

export class ChangeRecorder {
  readonly #find: FindJournal;
  readonly #keyOf: (entry: JailEntry) => string;
  readonly #origin: Origin | undefined;

  /** `origin` defaults to that of each entry. */
  constructor(find: FindJournal, keyOf: (entry: JailEntry) => string, origin?: Origin) {
    this.#find = find;
    this.#keyOf = keyOf;
    this.#origin = origin;
  }

  for(origin: Origin): ChangeRecorder {
    return new ChangeRecorder(this.#find, this.#keyOf, origin);
  }

  /** Whether a change of the entry is recorded. */
  keeps(entry: JailEntry): boolean {
    return this.#find(this.#keyOf(entry))?.isKept ?? false;
  }

  /** Records a new content of the entry; `version` is called right before the rename. */
  file(entry: JailEntry, { before, content, version }: FileVersions): RecordFirst | undefined {
    const kept = this.#recordOf(entry);
    if (!kept) return undefined;
    const { record, path, key } = kept;
    let was: State = ABSENT;
    return {
      async link() {
        const { state, link } = await record.keep(entry, before && (await recentVersions.of(key, before)));
        was = state;
        return link;
      },
      async note(made) {
        const base = before ?? (entry.stat ? undefined : NOTHING);
        const delta = base && content && deltaOf(base, content);
        const left = await version();
        if (before && content && left !== undefined) recentVersions.keep(key, content, left);
        const after = { ...fileState(made), version: left, delta };
        return recordIn(record, { path, kind: 'put', before: was, after });
      },
    };
  }

  /** Records a new state of the entry, such as its removal. */
  async put(entry: JailEntry, after: State): Promise<RecordedChange | undefined> {
    const kept = this.#recordOf(entry);
    if (!kept) return undefined;
    const { record, path } = kept;
    return recordIn(record, { path, kind: 'put', before: (await record.keep(entry)).state, after });
  }

  /** Records a rename. */
  async move(source: JailEntry, target: JailEntry): Promise<RecordedChange | undefined> {
    const kept = this.#recordOf(target);
    if (!kept) return undefined;
    const { record, path, journal } = kept;
    const after = stateOfStat(source.stat!);
    const { state: before } = await record.keep(target);
    return recordIn(record, { path, kind: 'move', from: journal.pathFrom(this.#keyOf(source)), before, after });
  }

  /** Records new permissions of an entry and of everything below; `below` has paths from the root of the jail. */
  modes(entry: JailEntry, permissions: Permissions, below: readonly Below[] = []): void {
    const kept = entry.stat && this.#recordOf(entry);
    if (!kept) return;
    const above = this.#above(entry);
    const all = [
      ...below.map(({ path, stat }) => ({ path: above + path, stat })),
      { path: this.#keyOf(entry), stat: entry.stat },
    ];
    kept.record.note(
      all.map(({ path, stat }) => {
        const before = stateOfStat(stat);
        const after = { ...before, ...withoutUndefined(permissions) } as State;
        return { path: kept.journal.pathFrom(path), kind: 'mode', before, after };
      }),
    );
  }

  /** Moves a directory with so many entries into the store; false if there is no journal, and the caller must remove it. */
  async takeTree(entry: JailEntry, count: number): Promise<boolean> {
    const kept = this.#recordOf(entry);
    if (!kept) return false;
    const { record, path, journal } = kept;
    const tree = nameIn(record, entry);
    const contents = count > MAX_SUMMED ? undefined : await sumOf(entry);
    const before = { ...stateOfStat(entry.stat!), tree, ...(contents !== undefined && { contents }) } as State;
    const { cancel } = record.note([{ path, kind: 'put', before, after: ABSENT }]);
    try {
      const aside = await takeTree(entry, journal.store, tree);
      if (aside !== undefined) await removeMade(entry.beside(aside));
      if (contents === undefined) journal.sums.later(record.seq, tree);
      return true;
    } catch (error) {
      cancel();
      throw error;
    }
  }

  /** Records the missing parent directories of an entry before they are made. */
  parents(entry: JailEntry): void {
    const missing = entry.missingParents;
    const kept = missing.length > 0 ? this.#recordOf(entry) : undefined;
    if (!kept) return;
    const above = this.#above(entry);
    kept.record.note(
      missing.map((path) => ({
        path: kept.journal.pathFrom(above + path),
        kind: 'put',
        before: ABSENT,
        after: { kind: 'directory', mode: 0o755 },
      })),
    );
  }

  /** The absolute prefix of paths from the root of the jail. */
  #above(entry: JailEntry): string {
    const key = this.#keyOf(entry);
    return key.slice(0, key.length - entry.relativePath.length);
  }

  #recordOf(entry: JailEntry): { record: OpenRecord; journal: Journal; path: string; key: string } | undefined {
    const key = this.#keyOf(entry);
    const journal = this.#find(key);
    if (!journal?.isKept) return undefined;
    const record = journal.recordOf(this.#origin ?? entry.origin ?? {});
    return { record, journal, path: journal.pathFrom(key), key };
  }
}

const NOTHING = Buffer.alloc(0);

/** A directory with more entries is summed after the reply. */
const MAX_SUMMED = 256;

async function sumOf(entry: JailEntry): Promise<string> {
  using dir = entry.openDir();
  return await sumBelow(dir, { signal: new AbortController().signal });
}

function nameIn(record: OpenRecord, entry: JailEntry): string {
  try {
    return record.nextName();
  } catch (error) {
    throw HostError.fromErrno(error, entry.path);
  }
}

function withoutUndefined(permissions: Permissions): Partial<Permissions> {
  return Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== undefined));
}

function recordIn(record: OpenRecord, change: JournalChange): RecordedChange {
  return { ...record.note([change]), ...(isLost(change.before) && { note: TOO_LARGE }) };
}

/** The changes of a call with the versions that the journal already has, for the audit of an engine. */
import type { Change } from '#protocol';
import type { JournalChange, State } from '../journal/records.ts';

/** Most changes reported of one call. */
const MAX_CHANGES = 100;

export class Versions {
  readonly #all: Change[];

  constructor(all: Change[]) {
    this.#all = all;
  }

  /** Returns the added entry, for `remove`. */
  add(changes: readonly JournalChange[]): readonly Change[] {
    const added = changes.slice(0, Math.max(0, MAX_CHANGES - this.#all.length)).map(toChange);
    this.#all.push(...added);
    return added;
  }

  /** Removes entries of changes that were not made. */
  remove(added: readonly Change[]): void {
    const kept = this.#all.filter((change) => !added.includes(change));
    this.#all.splice(0, this.#all.length, ...kept);
  }
}

function toChange({ path, kind, from, before, after }: JournalChange): Change {
  const isDirectory = [before, after].some((state) => state.kind === 'directory');
  return {
    ...{ path, kind: kindOf(kind, before, after) },
    ...(from !== undefined && { from }),
    ...(isDirectory && { is_directory: true }),
    ...(before.kind === 'file' && { before: contentOf(before) }),
    ...(after.kind === 'file' && { after: contentOf(after) }),
  };
}

function contentOf({ size, version }: Extract<State, { kind: 'file' }>): Change['before'] {
  return { bytes: size, ...(version !== undefined && { version }) };
}

function kindOf(kind: JournalChange['kind'], before: State, after: State): Change['kind'] {
  if (kind === 'mode') return 'mode';
  if (kind === 'move') return 'renamed';
  if (after.kind === 'absent') return 'deleted';
  return before.kind === 'absent' ? 'created' : 'modified';
}

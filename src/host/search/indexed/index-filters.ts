/** Caches which files globs accept: a glob is matched against a path once and not in every search. */
import { toText } from '../../text/byte-string.ts';
import { joinPath } from '../../walk/walk-dir.ts';
import type { FileSlots } from './file-slots.ts';
import type { IndexedFile } from './index-tree.ts';
import { compilePathFilter, type PathGlobs } from '../match/path-filter.ts';

const UNKNOWN = 0;
const PASSES = 1;
const BLOCKED = 2;

/** The known results by slot, and a function for the rest: a loop that reads an array itself is ten times as fast. */
export interface FileFilter {
  readonly view: Uint8Array;
  readonly decide: (slot: number) => number;
}

export function isBlocked({ view, decide }: FileFilter, slot: number): boolean {
  const known = view[slot]!;
  return (known === UNKNOWN ? decide(slot) : known) === BLOCKED;
}

/** Most sets of globs, each a byte per file. */
const MAX_VIEWS = 4;

export class FileFilters {
  readonly #slots: FileSlots;
  /** Verdicts of each set of globs, in the order of last use. */
  readonly #views = new Map<string, Uint8Array>();

  constructor(slots: FileSlots) {
    this.#slots = slots;
  }

  /** Undefined when all files pass. */
  of(globs: PathGlobs): FileFilter | undefined {
    const filter = compilePathFilter(globs);
    if (!filter) return undefined;
    const view = this.#view(JSON.stringify(globs));
    const decide = (slot: number) => (view[slot] = filter(pathOf(this.#slots.files[slot]!)) ? PASSES : BLOCKED);
    return { view, decide };
  }

  /** Call it when the slot is reused for another file. */
  forget(slot: number): void {
    for (const view of this.#views.values()) view[slot] = UNKNOWN;
  }

  #view(key: string): Uint8Array {
    const known = this.#views.get(key);
    const view = known && known.length >= this.#slots.length ? known : new Uint8Array(this.#slots.outcomes.length);
    if (known && known !== view) view.set(known);
    this.#views.delete(key);
    this.#views.set(key, view);
    if (this.#views.size > MAX_VIEWS) this.#views.delete(this.#views.keys().next().value!);
    return view;
  }
}

/** From the root, as it is reported. */
export function pathOf(file: IndexedFile): string {
  return (file.path ??= toText(joinPath(file.dir.path, file.name)));
}

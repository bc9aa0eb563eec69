/**
 * Sums of large removed directories, computed after the reply: the delete only renames the directory into the store.
 *
 * A change of the directory between the two shows in the times of its entries. Undo waits for the sums of its records,
 * and computes those that a killed process left out.
 */
import type { Journal } from './journal.ts';
import type { JournalRecord } from './records.ts';
import { codeOf } from './store.ts';

/** Delay that lets the reply go out first, which may wait for the disk. */
const DELAY_MS = 50;

export class TreeSums {
  readonly #journal: Journal;
  /** By the name of the tree. */
  readonly #pending = new Map<string, Promise<void>>();
  /** Times of the renames. */
  readonly #since = new Map<string, number | undefined>();
  readonly #stop = new AbortController();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Sums a directory that record `seq` has moved into the store. */
  later(seq: number, tree: string): void {
    // The rename has set the ctime of the directory.
    this.#since.set(tree, this.#journal.store.lstat('trees', tree)?.ctimeMs);
    setTimeout(() => void this.#sum(seq, tree).catch(() => {}), DELAY_MS).unref();
  }

  /** Sums the directories of these records that have no sum yet; read the records again afterwards. */
  async settle(records: Iterable<JournalRecord>): Promise<void> {
    for (const { seq, undoneBy, changes } of records) {
      for (const { before } of changes) {
        const isOpen = before.kind === 'directory' && before.tree !== undefined && before.contents === undefined;
        if (isOpen && undoneBy === undefined) await this.#sum(seq, before.tree);
      }
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  #sum(seq: number, tree: string): Promise<void> {
    const sum = this.#pending.get(tree) ?? this.#append(seq, tree).finally(() => this.#done(tree));
    this.#pending.set(tree, sum);
    return sum;
  }

  #done(tree: string): void {
    this.#pending.delete(tree);
    this.#since.delete(tree);
  }

  async #append(seq: number, tree: string): Promise<void> {
    const { store, log } = this.#journal;
    const { signal } = this.#stop;
    try {
      if (signal.aborted || !store.lstat('trees', tree)) return;
      const contents = await store.contentsOf(tree, { signal, since: this.#since.get(tree) });
      if (!signal.aborted) log.append({ seq, part: NO_PART, at: Date.now(), changes: [], sums: { [tree]: contents } });
    } catch (error) {
      // Undone or evicted meanwhile.
      if (!signal.aborted && codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** The line belongs to no part: cancelling one leaves it. */
const NO_PART = -1;

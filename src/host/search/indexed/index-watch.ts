/**
 * Collects which entries of the watched directories changed, as inotify reports.
 *
 * After two turns of the event loop every earlier change is known: one lets the loop poll, the other delivers the
 * events. The kernel drops events when its queue is full, which Node does not report; but then as many as the queue holds
 * arrive at once.
 */
import { readFileSync, watch } from 'node:fs';

import type { ByteString } from '../../text/byte-string.ts';
import type { IndexedDir } from './index-tree.ts';
import type { WalkDir } from '../../walk/walk-dir.ts';

/** From this share of the queue on, it counts as full. */
const FULL_SHARE = 0.9;

export class Watch {
  /** Changed names by directory; undefined when the directory itself may have changed. */
  #changes = new Map<IndexedDir, Set<ByteString | undefined>>();
  readonly #queueSize = queueSize();
  #eventsThisTurn = 0;
  #hasOverflowed = false;

  /** Throws errno errors, ENOSPC when there are too many watches. `dir.watcher.close()` ends the watch. */
  add(dir: IndexedDir, walkDir: WalkDir): void {
    const path = String(walkDir.listPath);
    // Events about the directory itself carry the last name of the watched path.
    const self = path.slice(path.lastIndexOf('/') + 1);
    dir.watcher = watch(path, { persistent: true, encoding: 'latin1' }, (_, name) => {
      this.#countEvent();
      this.#note(dir, name === null ? undefined : (name as ByteString));
      if (name === self) this.#note(dir, undefined);
    });
    dir.watcher.on('error', () => this.#note(dir, undefined));
  }

  /** All changes so far; undefined when some may have been missed. */
  async take(): Promise<Map<IndexedDir, Set<ByteString | undefined>> | undefined> {
    await new Promise<void>((done) => setImmediate(() => setImmediate(done)));
    if (this.#hasOverflowed) return undefined;
    const changes = this.#changes;
    this.#changes = new Map();
    return changes;
  }

  #note(dir: IndexedDir, name: ByteString | undefined): void {
    const names = this.#changes.get(dir);
    if (names) names.add(name);
    else this.#changes.set(dir, new Set([name]));
  }

  #countEvent(): void {
    if (this.#eventsThisTurn++ === 0) setImmediate(() => (this.#eventsThisTurn = 0));
    if (this.#eventsThisTurn >= FULL_SHARE * this.#queueSize) this.#hasOverflowed = true;
  }
}

function queueSize(): number {
  return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
}

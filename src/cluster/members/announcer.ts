/** When a node may announce itself: after it has asked whether another one has its name or its id. */
import type { Log } from '#contract';
import { refuseTaken, type Asking } from './refuse-taken.ts';

interface AnnouncerParts extends Asking {
  log: Log;
  announce: () => void;
}

export class Announcer {
  /** Whether no other node has its name or its id. */
  isUnique = false;
  readonly #parts: AnnouncerParts;
  #asking: Promise<void> | undefined;
  #hasJoined = false;

  constructor(parts: AnnouncerParts) {
    this.#parts = parts;
  }

  /** Announces the node, the first time after it has asked. */
  announce(): void {
    if (this.isUnique) this.#parts.announce();
    else this.#asking ??= this.#askFirst();
  }

  /** Throws why the node is refused. Without a server it has not asked yet: then a refusal is logged later. */
  async joined(): Promise<void> {
    await this.#asking;
    this.#hasJoined = true;
  }

  async #askFirst(): Promise<void> {
    const { log, announce, ...asking } = this.#parts;
    try {
      await refuseTaken(asking);
    } catch (error) {
      if (!this.#hasJoined) throw error;
      log.error('this node stays out of the cluster; start it again', { why: String(error) });
      return asking.wire.close();
    }
    this.isUnique = true;
    announce();
  }
}

/** When a node may announce itself: after it has asked whether another one has its name or its id. */
import type { Log } from '#contract';
import { refuseTaken, type Asking } from './refuse-taken.ts';

interface SeatingParts extends Asking {
  log: Log;
  announce: () => void;
}

export class Seating {
  /** Whether no other node has its name or its id. */
  isSeated = false;
  readonly #parts: SeatingParts;
  #taking: Promise<void> | undefined;
  #hasJoined = false;

  constructor(parts: SeatingParts) {
    this.#parts = parts;
  }

  /** Announces the node, the first time after it has asked. */
  take(): void {
    if (this.isSeated) this.#parts.announce();
    else this.#taking ??= this.#take();
  }

  /** Throws why the node is refused. Without a server it has not asked yet: then a refusal is logged later. */
  async joined(): Promise<void> {
    await this.#taking;
    this.#hasJoined = true;
  }

  async #take(): Promise<void> {
    const { log, announce, ...asking } = this.#parts;
    try {
      await refuseTaken(asking);
    } catch (error) {
      if (!this.#hasJoined) throw error;
      log.error('this node stays out of the cluster; start it again', { why: String(error) });
      return asking.wire.close();
    }
    this.isSeated = true;
    announce();
  }
}

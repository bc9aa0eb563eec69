/** Nodes that are gone, remembered for a while: callers get the reason. */
import type { FleetNode } from '#contract';
import { MOST_LOST, REMEMBER_LOST_MS } from '../limits.ts';
import type { Address } from '../wire/subjects.ts';

const WHY = {
  left: 'it left',
  restarted: 'it restarted',
  silent: 'it is silent',
  deaf: 'it has no subscriber',
  'cut off': 'this node is cut off',
  stopping: 'this node stops',
};
/** How a node ended. */
export type Ending = keyof typeof WHY;

interface Lost {
  readonly address: Address;
  readonly ending: Ending;
  readonly atMs: number;
}

export function whyGone(ending: Ending): string {
  return WHY[ending];
}

/** The clock is passed in. */
export class LostNodes {
  /** Lost nodes by id, oldest first. */
  readonly #lost = new Map<string, Lost>();
  readonly #latest = new Map<string, Lost>();

  add(address: Address, ending: Ending, atMs: number): void {
    const lost = { address, ending, atMs };
    this.found(address);
    this.#lost.set(address.id, lost);
    this.#latest.set(address.name, lost);
    const [oldest] = this.#lost.values();
    if (this.#lost.size > MOST_LOST && oldest) this.#forget(oldest);
  }

  /** The node reconnected or restarted; a restarted node's old process never returns. */
  found({ name, id }: Address): void {
    const latest = this.#latest.get(name);
    if (latest && latest.address.id !== id) this.#lost.set(latest.address.id, { ...latest, ending: 'restarted' });
    this.#lost.delete(id);
    this.#latest.delete(name);
  }

  /** A lost node reports that it leaves, so it will not come back. */
  left({ name, id }: Address): void {
    const lost = this.#lost.get(id);
    if (!lost) return;
    const left = { ...lost, ending: 'left' as const };
    this.#lost.set(id, left);
    if (this.#latest.get(name) === lost) this.#latest.set(name, left);
  }

  /** Whether this process of a node left: then it does not come back. */
  hasLeft(id: string): boolean {
    return this.#lost.get(id)?.ending === 'left';
  }

  /** Why the node of this name cannot be called; undefined once its loss is long ago. */
  whyNot(name: string, nowMs: number): string | undefined {
    const lost = this.#latest.get(name);
    return lost && nowMs - lost.atMs <= REMEMBER_LOST_MS ? WHY[lost.ending] : undefined;
  }

  byId(id: string, nowMs: number): FleetNode | undefined {
    const lost = this.#lost.get(id);
    if (!lost) return undefined;
    const { ending, address, atMs } = lost;
    const how = ending === 'left' || ending === 'restarted' ? ending : 'was lost';
    return { name: address.name, gone: { isOver: how !== 'was lost' || nowMs - atMs > REMEMBER_LOST_MS, how } };
  }

  #forget({ address }: Lost): void {
    this.#lost.delete(address.id);
    if (this.#latest.get(address.name)?.address.id === address.id) this.#latest.delete(address.name);
  }
}

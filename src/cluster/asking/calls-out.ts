/**
 * The calls that this node sent to one peer and that wait for an answer. Pure: the clock is passed in.
 *
 * The caller's node polls the peer about its calls: a call that the peer never got is sent again; one that it got and
 * has no result for ends as lost. A call is only reported as "did not run" when every copy of it had no subscriber.
 */
import { MAX_SENDS, type ByteBudget } from './memory.ts';

/** Calls younger than this are not polled: most have been answered by then. */
const ASK_AFTER_MS = 500;
const MOST_ASKED = 8_000;
/** A call that is unknown to the peer, and may have been forgotten there, is lost after this many answers running. */
const LOST_AFTER = 2;

/** The peer's answer to a poll about calls. */
export interface Answer {
  /** Ids that it never got, as far back as it remembers. */
  unknown: readonly string[];
  /** Ids that finished here without a kept result: lost, never resent. */
  lost: readonly string[];
  /** How far back the peer's memory is complete. */
  memory_ms: number;
}

interface Waiting {
  readonly sinceMs: number;
  /** Kept to be sent again; absent if there was no room. */
  readonly text: Uint8Array | undefined;
  sends: number;
  /** Copies that had no subscriber. */
  unheard: number;
  timesUnknown: number;
  isArriving: boolean;
}

export class CallsOut {
  readonly #waiting = new Map<string, Waiting>();
  readonly #budget: ByteBudget;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get size(): number {
    return this.#waiting.size;
  }

  get ids(): string[] {
    return [...this.#waiting.keys()];
  }

  /** Returns false when its text cannot be kept. */
  begin(id: string, text: Uint8Array, nowMs: number): boolean {
    const isKept = this.#budget.take(text.length);
    this.#waiting.set(id, {
      sinceMs: nowMs,
      text: isKept ? text : undefined,
      sends: 0,
      unheard: 0,
      timesUnknown: 0,
      isArriving: false,
    });
    return isKept;
  }

  /** A copy was published. */
  sent(id: string): void {
    const call = this.#waiting.get(id);
    if (call) call.sends++;
  }

  /** A copy had no subscriber. */
  unheard(id: string): void {
    const call = this.#waiting.get(id);
    if (call) call.unheard++;
  }

  /** Whether it still waits and its result is not being fetched already; from now on it is. */
  arrives(id: string): boolean {
    const call = this.#waiting.get(id);
    if (!call || call.isArriving) return false;
    call.isArriving = true;
    return true;
  }

  /** The result could not be fetched. */
  missed(id: string): void {
    const call = this.#waiting.get(id);
    if (call) call.isArriving = false;
  }

  /** Whether it still waited: a call ends once. */
  end(id: string): boolean {
    const call = this.#waiting.get(id);
    if (!call) return false;
    if (call.text) this.#budget.give(call.text.length);
    return this.#waiting.delete(id);
  }

  /** The text to send again, while the call waits. */
  textOf(id: string): Uint8Array | undefined {
    return this.#waiting.get(id)?.text;
  }

  /** Whether every copy had no subscriber, so that the call surely did not run. */
  didNotRun(id: string): boolean {
    const call = this.#waiting.get(id);
    return call !== undefined && call.sends <= call.unheard;
  }

  /** Calls of which no copy was published: the connection was down. */
  unsent(): string[] {
    return this.ids.filter((id) => this.#waiting.get(id)!.sends === 0);
  }

  /** The calls to poll now; with `isUrgent`, the young ones too. */
  toAsk(nowMs: number, { isUrgent = false } = {}): string[] {
    const ids: string[] = [];
    for (const [id, call] of this.#waiting) {
      if (ids.length >= MOST_ASKED) break;
      // The peer would announce a result again that is being fetched, and keep it for a minute.
      if (call.isArriving) continue;
      if (isUrgent || nowMs - call.sinceMs >= ASK_AFTER_MS) ids.push(id);
    }
    return ids;
  }

  /** Evaluates an answer: returns the calls to send again, and those that are lost and may have run. */
  heard(asked: readonly string[], { unknown, lost, memory_ms }: Answer, nowMs: number): Verdicts {
    const verdicts: Verdicts = { again: [], lost: [] };
    const unknowns = new Set(unknown);
    const gone = new Set(lost);
    for (const id of asked) {
      const call = this.#waiting.get(id);
      if (!call || call.isArriving) continue;
      if (gone.has(id)) verdicts.lost.push(id);
      else if (!unknowns.has(id)) call.timesUnknown = 0;
      else if (call.text && nowMs - call.sinceMs < memory_ms && call.sends < MAX_SENDS) verdicts.again.push(id);
      else if (++call.timesUnknown >= LOST_AFTER) verdicts.lost.push(id);
    }
    return verdicts;
  }
}

interface Verdicts {
  again: string[];
  lost: string[];
}

/**
 * Many globs as one automaton over bytes: a path is decided in one pass, whatever the patterns are.
 *
 * Sets of places in the patterns become states when a path first needs them, so ordinary globs run
 * at one array look-up a byte. A byte never costs more than one visit to each place, which is why
 * no pattern can make a match blow up.
 */
import { toBytes } from './byte-string.ts';
import type { ByteSet, GlobToken } from './glob-syntax.ts';

interface State {
  /** Places that wait for a byte. */
  readonly places: Int32Array;
  readonly isMatch: boolean;
  /** Where each byte leads, as far as it was asked. */
  readonly next: (State | undefined)[];
}

/** About 2 MB; past that, odd patterns walk the places themselves. */
const MAX_STATES = 1024;

const NOWHERE = -1;

export class GlobAutomaton {
  /** Visits to places so far. */
  work = 0;

  // A place waits for a byte of its set and leads on, or without a set leads to both exits at once.
  readonly #sets: (ByteSet | undefined)[] = [];
  readonly #next: number[] = [];
  readonly #other: number[] = [];
  readonly #match: number;

  readonly #states = new Map<string, State>();
  readonly #start: State;

  // Where the present round of reaching places has been, and which of them wait for a byte.
  readonly #visited: Int32Array;
  #waiting: Int32Array;
  #spare: Int32Array;
  #waitingCount = 0;
  #round = 0;

  constructor(patterns: GlobToken[][]) {
    this.#match = this.#place(undefined, NOWHERE);
    const entry = this.#join(patterns, this.#match);
    this.#visited = new Int32Array(this.#sets.length);
    this.#waiting = new Int32Array(this.#sets.length);
    this.#spare = new Int32Array(this.#sets.length);

    this.#round++;
    this.#reach(entry);
    this.#start = this.#makeState();
  }

  matches(path: string): boolean {
    const bytes = toBytes(path);
    let state = this.#start;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes.charCodeAt(at);
      const next = state.next[byte] ?? this.#follow(state, byte);
      if (!next) return this.#matchesFrom(state, bytes, at);
      if (next.places.length === 0 && !next.isMatch) return false;
      state = next;
    }
    return state.isMatch;
  }

  /** Lays tokens out from the back, each leading to what follows it; answers where they begin. */
  #layOut(tokens: GlobToken[], end: number): number {
    return tokens.reduceRight((next, token) => {
      if (token.kind === 'byte') return this.#place(token.set, next);
      if (token.kind === 'either') return this.#join(token.branches, next);

      const fork = this.#place(undefined, next);
      this.#other[fork] = this.#place(token.set, fork);
      return fork;
    }, end);
  }

  #join(branches: GlobToken[][], end: number): number {
    const [first, ...others] = branches.map((branch) => this.#layOut(branch, end));
    return others.reduce((rest, start) => this.#place(undefined, rest, start), first ?? end);
  }

  #place(set: ByteSet | undefined, next: number, other = NOWHERE): number {
    this.#sets.push(set);
    this.#next.push(next);
    return this.#other.push(other) - 1;
  }

  /** The state a byte leads to; undefined when there are too many already to make another. */
  #follow(from: State, byte: number): State | undefined {
    this.#advance(from.places, from.places.length, byte);
    const state = this.#states.get(this.#key()) ?? (this.#states.size < MAX_STATES ? this.#makeState() : undefined);
    from.next[byte] = state;
    return state;
  }

  #makeState(): State {
    const state: State = {
      places: this.#waiting.slice(0, this.#waitingCount),
      isMatch: this.#isAtMatch,
      next: new Array<State | undefined>(256),
    };
    this.#states.set(this.#key(), state);
    return state;
  }

  #key(): string {
    const places = Buffer.from(this.#waiting.buffer, 0, this.#waitingCount * Int32Array.BYTES_PER_ELEMENT);
    return `${this.#isAtMatch}${places.toString('latin1')}`;
  }

  #matchesFrom(state: State, bytes: string, start: number): boolean {
    this.#advance(state.places, state.places.length, bytes.charCodeAt(start));
    for (let at = start + 1; at < bytes.length; at++) {
      [this.#waiting, this.#spare] = [this.#spare, this.#waiting];
      this.#advance(this.#spare, this.#waitingCount, bytes.charCodeAt(at));
    }
    return this.#isAtMatch;
  }

  /** Reads a byte at the first `count` of these places. */
  #advance(places: Int32Array, count: number, byte: number): void {
    this.#round++;
    this.#waitingCount = 0;
    this.work += count;
    for (let i = 0; i < count; i++) {
      const place = places[i]!;
      if (this.#sets[place]![byte]) this.#reach(this.#next[place]!);
    }
  }

  /** Goes to a place and to wherever it leads without a byte. */
  #reach(first: number): void {
    for (let place = first; place !== NOWHERE && this.#visited[place] !== this.#round; place = this.#next[place]!) {
      this.#visited[place] = this.#round;
      this.work++;
      if (this.#sets[place]) {
        this.#waiting[this.#waitingCount++] = place;
        return;
      }
      this.#reach(this.#other[place]!);
    }
  }

  get #isAtMatch(): boolean {
    return this.#visited[this.#match] === this.#round;
  }
}

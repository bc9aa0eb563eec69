/**
 * Many globs as one automaton over bytes: a path is decided in one pass, whatever the patterns are.
 *
 * Sets of places in the patterns become states when a path first needs them, so ordinary globs run
 * at one array look-up a byte. Where a pattern has too many, the set itself goes from byte to byte, a bit a place:
 * most places lead to those beside them, so 32 of them move at once. Any other is visited once a byte at most, which
 * is why no pattern can make a match blow up.
 */
import { toBytes } from '../text/byte-string.ts';
import type { ByteSet, GlobToken } from './glob-syntax.ts';

/** One bit for each place that waits for a byte. */
type Places = Int32Array;

interface State {
  readonly places: Places;
  readonly isMatch: boolean;
  /** Where each byte leads, as far as it was asked. */
  readonly next: (State | undefined)[];
  /** Whether no byte leads anywhere. */
  readonly isDead: boolean;
}

/** About 2 MB; past that, odd patterns walk the places themselves. */
const MAX_STATES = 1024;

const NOWHERE = -1;

export class GlobAutomaton {
  /** Visits to places, and to words of them, so far. */
  work = 0;

  // A place waits for a byte of its set and leads on, or without a set leads to both exits at once.
  readonly #sets: (ByteSet | undefined)[] = [];
  readonly #next: number[] = [];
  readonly #other: number[] = [];
  readonly #match: number;

  /** The places that wait, by their bits. Tokens are laid out from the back, so what follows has a lower bit. */
  readonly #waiters: number[] = [];
  /** The bit of each place, if it waits. */
  readonly #bits: (number | undefined)[] = [];
  /** Of those that wait: which lead to themselves, one bit down, two bits down, or elsewhere. */
  readonly #toSelf: Places;
  readonly #toOneDown: Places;
  readonly #toTwoDown: Places;
  readonly #toElsewhere: Places;
  /** Which of them take a byte, as far as it was asked. */
  readonly #takers: (Places | undefined)[] = new Array(256);

  readonly #states = new Map<string, State>();
  readonly #start: State;

  // Where the present round of reaching places has been, and which of them wait for a byte.
  readonly #visited: Int32Array;
  #waiting: Places;
  #spare: Places;
  #round = 0;

  constructor(patterns: GlobToken[][]) {
    this.#match = this.#place(undefined, NOWHERE);
    const entry = this.#join(patterns, this.#match);
    this.#visited = new Int32Array(this.#sets.length);
    [this.#waiting, this.#spare] = [this.#noPlaces(), this.#noPlaces()];
    [this.#toSelf, this.#toOneDown] = [this.#noPlaces(), this.#noPlaces()];
    [this.#toTwoDown, this.#toElsewhere] = [this.#noPlaces(), this.#noPlaces()];
    this.#waiters.forEach((place, bit) => this.#noteExits(place, bit));

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
      if (next.isDead) return false;
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
    const place = this.#sets.push(set) - 1;
    this.#next.push(next);
    this.#other.push(other);
    this.#bits.push(set && this.#waiters.push(place) - 1);
    return place;
  }

  #noPlaces(): Places {
    return new Int32Array(Math.ceil(this.#waiters.length / 32));
  }

  /** Where a place leads that has taken a byte. A run leads to itself as well as on, and so does what leads to a run. */
  #noteExits(place: number, bit: number): void {
    const next = this.#next[place]!;
    const run = this.#bits[this.#other[next]!];
    const first = this.#bits[run === undefined ? next : this.#next[next]!];
    if (run === bit && first === bit - 1) {
      add(this.#toSelf, bit);
      add(this.#toOneDown, bit);
    } else if (run === bit - 1 && first === bit - 2) {
      add(this.#toOneDown, bit);
      add(this.#toTwoDown, bit);
    } else if (run === undefined && first === bit - 1) {
      add(this.#toOneDown, bit);
    } else {
      add(this.#toElsewhere, bit);
    }
  }

  /** The state a byte leads to; undefined when there are too many already to make another. */
  #follow(from: State, byte: number): State | undefined {
    this.#advance(from.places, byte);
    const state = this.#states.get(this.#key()) ?? (this.#states.size < MAX_STATES ? this.#makeState() : undefined);
    from.next[byte] = state;
    return state;
  }

  #makeState(): State {
    const isMatch = this.#isAtMatch;
    const state: State = {
      places: this.#waiting.slice(),
      isMatch,
      next: new Array<State | undefined>(256),
      isDead: !isMatch && this.#waiting.every((word) => word === 0),
    };
    this.#states.set(this.#key(), state);
    return state;
  }

  #key(): string {
    const { buffer } = this.#waiting;
    return `${this.#isAtMatch}${Buffer.from(buffer).toString('latin1')}`;
  }

  #matchesFrom(state: State, bytes: string, start: number): boolean {
    this.#advance(state.places, bytes.charCodeAt(start));
    for (let at = start + 1; at < bytes.length; at++) {
      [this.#waiting, this.#spare] = [this.#spare, this.#waiting];
      this.#advance(this.#spare, bytes.charCodeAt(at));
    }
    return this.#isAtMatch;
  }

  /** Reads a byte at these places. */
  #advance(places: Places, byte: number): void {
    const takers = (this.#takers[byte] ??= this.#takersOf(byte));
    const waiting = this.#waiting.fill(0);
    this.#round++;
    this.work += places.length;
    for (let word = 0; word < places.length; word++) {
      const taking = places[word]! & takers[word]!;
      if (taking === 0) continue;

      const one = taking & this.#toOneDown[word]!;
      const two = taking & this.#toTwoDown[word]!;
      waiting[word]! |= (taking & this.#toSelf[word]!) | (one >>> 1) | (two >>> 2);
      if (word > 0) waiting[word - 1]! |= (one << 31) | (two << 30);
      for (let left = taking & this.#toElsewhere[word]!; left !== 0; left &= left - 1) {
        const bit = word * 32 + 31 - Math.clz32(left & -left);
        this.#reach(this.#next[this.#waiters[bit]!]!);
      }
    }
  }

  #takersOf(byte: number): Places {
    const takers = this.#noPlaces();
    this.#waiters.forEach((place, bit) => {
      if (this.#sets[place]![byte]) add(takers, bit);
    });
    return takers;
  }

  /** Goes to a place and to wherever it leads without a byte. */
  #reach(first: number): void {
    for (let place = first; place !== NOWHERE && this.#visited[place] !== this.#round; place = this.#next[place]!) {
      this.#visited[place] = this.#round;
      this.work++;
      const bit = this.#bits[place];
      if (bit !== undefined) {
        add(this.#waiting, bit);
        return;
      }
      this.#reach(this.#other[place]!);
    }
  }

  get #isAtMatch(): boolean {
    return this.#visited[this.#match] === this.#round;
  }
}

function add(places: Places, bit: number): void {
  places[bit >> 5]! |= 1 << (bit & 31);
}

/**
 * Many globs as one automaton over bytes: a path is decided in one pass, whatever the patterns are.
 *
 * Sets of positions in the patterns become DFA states when a path first needs them, so ordinary globs cost one array
 * look-up per byte. A pattern with too many states is run as an NFA, a bit per position: most positions continue at
 * their neighbours, so 32 of them advance at once. Any other position is visited at most once per byte, so no pattern
 * can make a match blow up.
 */
import { toBytes } from '../text/byte-string.ts';
import type { ByteSet, GlobToken } from './glob-syntax.ts';

/** One bit for each position that waits for a byte. */
type Positions = Int32Array;

interface State {
  readonly positions: Positions;
  readonly isMatch: boolean;
  /** The next state by byte, as far as it has been computed. */
  readonly next: (State | undefined)[];
  /** Whether no byte reaches another state. */
  readonly isDead: boolean;
}

/** Alternatives that are laid out in part; all of them continue at `end`. */
interface Alternatives {
  readonly end: number;
  /**
   * Branches to lay out, in reverse order. The last one is laid out down to the token `at`, which continues at `next`.
   */
  readonly left: GlobToken[][];
  at: number;
  next: number;
  /** Start position of the branches that are laid out. */
  start: number;
}

/** About 2 MB; beyond that, odd patterns run position by position. */
const MAX_STATES = 1024;

const NOWHERE = -1;

export class GlobAutomaton {
  /** Visits to positions, and to words of them, so far. */
  work = 0;

  // A position waits for a byte of its set and then moves on; without a set it continues at both exits at once.
  readonly #sets: (ByteSet | undefined)[] = [];
  readonly #next: number[] = [];
  readonly #other: number[] = [];
  readonly #match: number;

  /** The positions that wait, by their bits. Tokens are laid out from the back, so a later token has a lower bit. */
  readonly #waiters: number[] = [];
  /** The bit of each position, if it waits. */
  readonly #bits: (number | undefined)[] = [];
  /** Which waiting positions continue at themselves, one bit down, two bits down, or elsewhere. */
  readonly #toSelf: Positions;
  readonly #toOneDown: Positions;
  readonly #toTwoDown: Positions;
  readonly #toElsewhere: Positions;
  /** Which waiting positions take a byte, as far as it has been computed. */
  readonly #takers: (Positions | undefined)[] = new Array(256);

  readonly #states = new Map<string, State>();
  readonly #start: State;
  /** The directory of the last path, up to its slash, and the state after it: paths often come one directory at a time. */
  #folder = '';
  #afterFolder: State | undefined;

  // Positions visited in the current round, and which of them wait for a byte.
  readonly #visited: Int32Array;
  #waiting: Positions;
  #spare: Positions;
  #round = 0;

  constructor(patterns: GlobToken[][]) {
    this.#match = this.#addPosition(undefined, NOWHERE);
    const entry = this.#layOut(patterns, this.#match);
    this.#visited = new Int32Array(this.#sets.length);
    [this.#waiting, this.#spare] = [this.#noPositions(), this.#noPositions()];
    [this.#toSelf, this.#toOneDown] = [this.#noPositions(), this.#noPositions()];
    [this.#toTwoDown, this.#toElsewhere] = [this.#noPositions(), this.#noPositions()];
    this.#waiters.forEach((position, bit) => this.#noteExits(position, bit));

    this.#round++;
    this.#reach(entry);
    this.#start = this.#makeState();
    this.#afterFolder = this.#start;
  }

  matches(path: string): boolean {
    const end = path.lastIndexOf('/') + 1;
    if (end !== this.#folder.length || !path.startsWith(this.#folder)) {
      const folder = path.slice(0, end);
      this.#afterFolder = this.#after(this.#start, toBytes(folder));
      this.#folder = folder;
    }
    const state = this.#afterFolder && this.#after(this.#afterFolder, toBytes(path.slice(end)));
    return state ? state.isMatch : this.#matchesFrom(this.#start, toBytes(path), 0);
  }

  /** The state after these bytes; undefined when there are too many states to make another. */
  #after(state: State, bytes: string): State | undefined {
    for (let at = 0; at < bytes.length && !state.isDead; at++) {
      const byte = bytes.charCodeAt(at);
      const next = state.next[byte] ?? this.#follow(state, byte);
      if (!next) return undefined;
      state = next;
    }
    return state;
  }

  /**
   * Lays alternatives out, each from its last token to its first; returns the start position. Open braces wait on a list and not
   * on the stack: a pattern may nest 2,047 of them, wherever in the stack its caller is.
   */
  #layOut(patterns: GlobToken[][], match: number): number {
    const outer: Alternatives[] = [];
    let inner = alternatives(patterns, match);
    for (;;) {
      const token = inner.left.at(-1)?.[--inner.at];
      if (token?.kind === 'either') {
        outer.push(inner);
        inner = alternatives(token.branches, inner.next);
      } else if (token) {
        inner.next = this.#addToken(token, inner.next);
      } else if (inner.left.pop()) {
        inner.start = inner.start === NOWHERE ? inner.next : this.#addPosition(undefined, inner.start, inner.next);
        enterLast(inner);
      } else {
        const start = inner.start === NOWHERE ? inner.end : inner.start;
        const around = outer.pop();
        if (!around) return start;
        inner = around;
        inner.next = start;
      }
    }
  }

  #addToken(token: Exclude<GlobToken, { kind: 'either' }>, next: number): number {
    if (token.kind === 'byte') return this.#addPosition(token.set, next);

    const fork = this.#addPosition(undefined, next);
    this.#other[fork] = this.#addPosition(token.set, fork);
    return fork;
  }

  #addPosition(set: ByteSet | undefined, next: number, other = NOWHERE): number {
    const position = this.#sets.push(set) - 1;
    this.#next.push(next);
    this.#other.push(other);
    this.#bits.push(set && this.#waiters.push(position) - 1);
    return position;
  }

  #noPositions(): Positions {
    return new Int32Array(Math.ceil(this.#waiters.length / 32));
  }

  /**
   * Records where a position continues after a byte. A run continues at itself and at the next position, and so does a
   * position before a run.
   */
  #noteExits(position: number, bit: number): void {
    const next = this.#next[position]!;
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

  /** The state after a byte; undefined when there are too many states to make another. */
  #follow(from: State, byte: number): State | undefined {
    this.#advance(from.positions, byte);
    const state = this.#states.get(this.#key()) ?? (this.#states.size < MAX_STATES ? this.#makeState() : undefined);
    from.next[byte] = state;
    return state;
  }

  #makeState(): State {
    const isMatch = this.#isAtMatch;
    const state: State = {
      positions: this.#waiting.slice(),
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
    this.#advance(state.positions, bytes.charCodeAt(start));
    for (let at = start + 1; at < bytes.length; at++) {
      [this.#waiting, this.#spare] = [this.#spare, this.#waiting];
      this.#advance(this.#spare, bytes.charCodeAt(at));
    }
    return this.#isAtMatch;
  }

  /** Advances these positions by one byte. */
  #advance(positions: Positions, byte: number): void {
    const takers = (this.#takers[byte] ??= this.#takersOf(byte));
    const waiting = this.#waiting.fill(0);
    this.#round++;
    this.work += positions.length;
    for (let word = 0; word < positions.length; word++) {
      const taking = positions[word]! & takers[word]!;
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

  #takersOf(byte: number): Positions {
    const takers = this.#noPositions();
    this.#waiters.forEach((position, bit) => {
      if (this.#sets[position]![byte]) add(takers, bit);
    });
    return takers;
  }

  /** Visits a position and all positions reachable without a byte. */
  #reach(first: number): void {
    for (
      let position = first;
      position !== NOWHERE && this.#visited[position] !== this.#round;
      position = this.#next[position]!
    ) {
      this.#visited[position] = this.#round;
      this.work++;
      const bit = this.#bits[position];
      if (bit !== undefined) {
        add(this.#waiting, bit);
        return;
      }
      this.#reach(this.#other[position]!);
    }
  }

  get #isAtMatch(): boolean {
    return this.#visited[this.#match] === this.#round;
  }
}

function add(positions: Positions, bit: number): void {
  positions[bit >> 5]! |= 1 << (bit & 31);
}

function alternatives(branches: GlobToken[][], end: number): Alternatives {
  return enterLast({ end, left: branches.toReversed(), at: 0, next: end, start: NOWHERE });
}

function enterLast(inner: Alternatives): Alternatives {
  inner.at = inner.left.at(-1)?.length ?? 0;
  inner.next = inner.end;
  return inner;
}

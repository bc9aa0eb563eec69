/**
 * The glob dialect of the Rust crate globset with its default options, parsed into three kinds of tokens.
 *
 * Unlike in most dialects, `*` and `?` match `/`, and everything works on bytes: `?` is half of an `é`. Odd corners are
 * the crate's own, recorded in `fixtures/`.
 */

/** The bytes accepted at a position: 256 times 0 or 1. */
export type ByteSet = Uint8Array;

export type GlobToken =
  | { kind: 'byte'; set: ByteSet }
  /** Zero or more bytes of the set. */
  | { kind: 'run'; set: ByteSet }
  /** One of the branches; without branches, nothing. */
  | { kind: 'either'; branches: GlobToken[][] };

/** Parses a pattern; another dialect is another parser. */
export type GlobDialect = (pattern: string) => GlobToken[];

/** A pattern that cannot be parsed. */
export class GlobError extends Error {
  override readonly name = 'GlobError';
  readonly pattern: string;
  readonly reason: string;

  constructor(pattern: string, reason: string) {
    super(`bad glob ${JSON.stringify(pattern)}: ${reason}`);
    this.pattern = pattern;
    this.reason = reason;
  }
}

export const parseGlobset: GlobDialect = (pattern) => parseGlob(pattern, { bytes: ANY, one: ANY_BYTE });

/** Characters that the wildcards match; `**` between slashes always crosses them. */
export interface GlobWildcards {
  /** Bytes that a `*` and a class match. */
  readonly bytes: ByteSet;
  /** A `?`. */
  readonly one: GlobToken;
}

export function parseGlob(pattern: string, wildcards: GlobWildcards): GlobToken[] {
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw new GlobError(`${pattern.slice(0, 40)}…`, `longer than ${MAX_PATTERN_CHARS} characters`);
  }
  return new Parser(pattern, wildcards).parse();
}

/** The longest path of Linux; matching costs pattern times path, so both are bounded. */
const MAX_PATTERN_CHARS = 4096;

const ANY: ByteSet = new Uint8Array(256).fill(1);
const ANY_BYTE: GlobToken = { kind: 'byte', set: ANY };
const SLASH: GlobToken = { kind: 'byte', set: setOf([[0x2f, 0x2f]]) };
const RUN: GlobToken = { kind: 'run', set: ANY };

/** `**` and a slash at the start: zero or more directories. */
export const PREFIX: GlobToken = { kind: 'either', branches: [[], [RUN, SLASH]] };
/** `**` between slashes. */
const MIDDLE: GlobToken = { kind: 'either', branches: [[SLASH], [SLASH, RUN, SLASH]] };
/** `**` after the last slash: everything below, not the directory itself. */
export const BELOW: GlobToken = { kind: 'either', branches: [[SLASH, RUN]] };

class Parser {
  readonly #pattern: string;
  readonly #wildcards: GlobWildcards;
  readonly #chars: string[];
  #at = 0;
  /** Branches of the open `{`, innermost last; the bottom one is the pattern itself. */
  readonly #groups: GlobToken[][][] = [[[]]];

  constructor(pattern: string, wildcards: GlobWildcards) {
    this.#pattern = pattern;
    this.#wildcards = wildcards;
    this.#chars = Array.from(pattern);
  }

  parse(): GlobToken[] {
    for (let char = this.#take(); char !== undefined; char = this.#take()) this.#parseFrom(char);
    if (this.#isGrouped) throw this.#problem('a { is never closed');

    const tokens = this.#branch;
    return tokens.length === 1 && tokens[0] === PREFIX ? [RUN] : tokens;
  }

  #parseFrom(char: string): void {
    if (char === '?') this.#branch.push(this.#wildcards.one);
    else if (char === '*') this.#parseStars();
    else if (char === '[') this.#branch.push({ kind: 'byte', set: this.#parseClass() });
    else if (char === '{') this.#groups.push([[]]);
    else if (char === '}') this.#closeGroup();
    else if (char === ',' && this.#isGrouped) this.#groups.at(-1)!.push([]);
    else if (char === '\\') this.#parseEscape();
    else this.#pushLiteral(char);
  }

  #parseStars(): void {
    const before = this.#chars[this.#at - 2];
    const branch = this.#branch;
    const run: GlobToken = { kind: 'run', set: this.#wildcards.bytes };
    if (this.#peek() !== '*') {
      branch.push(run);
      return;
    }
    this.#at++;

    const after = this.#peek();
    if (branch.length === 0) {
      const isPrefix = after === undefined || after === '/';
      if (after === '/') this.#at++;
      branch.push(isPrefix ? PREFIX : run);
      return;
    }

    const startsName = before === '/' || (this.#isGrouped && (before === ',' || before === '{'));
    const isLast = after === undefined || (this.#isGrouped && (after === ',' || after === '}'));
    if (!startsName || !(isLast || after === '/')) {
      branch.push(run);
      return;
    }
    if (!isLast) this.#at++;
    const slash = branch.pop();
    if (slash === PREFIX) branch.push(PREFIX);
    else branch.push(isLast ? BELOW : MIDDLE);
  }

  #parseClass(): ByteSet {
    const isNegated = this.#peek() === '!' || this.#peek() === '^';
    if (isNegated) this.#at++;

    const ranges: [string, string][] = [];
    let isFirst = true;
    let isRange = false;
    for (let char = this.#takeInClass(); char !== ']' || isFirst; char = this.#takeInClass()) {
      const last = ranges.at(-1);
      if (isRange && last) {
        last[1] = char;
        if (char.codePointAt(0)! < last[0].codePointAt(0)!) {
          throw this.#problem(`the range ${last[0]}-${char} runs backwards`);
        }
        isRange = false;
      } else if (char === '-' && !isFirst) {
        isRange = true;
      } else {
        ranges.push([char, char]);
      }
      isFirst = false;
    }
    if (isRange) ranges.push(['-', '-']);

    const { bytes } = this.#wildcards;
    const set = setOf(ranges.flatMap(byteRanges));
    return set.map((bit, byte) => (isNegated ? 1 - bit : bit) & bytes[byte]!);
  }

  #takeInClass(): string {
    const char = this.#take();
    if (char === undefined) throw this.#problem('a [ is never closed');
    return char;
  }

  #closeGroup(): void {
    if (!this.#isGrouped) throw this.#problem('a } without its {');
    const branches = this.#groups.pop()!.filter((branch) => !branch.every(isNothing));
    this.#branch.push({ kind: 'either', branches });
  }

  #parseEscape(): void {
    const char = this.#take();
    if (char === undefined) throw this.#problem('nothing follows the last backslash');
    this.#pushLiteral(char);
  }

  #pushLiteral(char: string): void {
    for (const byte of Buffer.from(char)) this.#branch.push({ kind: 'byte', set: setOf([[byte, byte]]) });
  }

  get #branch(): GlobToken[] {
    return this.#groups.at(-1)!.at(-1)!;
  }

  get #isGrouped(): boolean {
    return this.#groups.length > 1;
  }

  #take(): string | undefined {
    return this.#chars[this.#at++];
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #problem(reason: string): GlobError {
    return new GlobError(this.#pattern, reason);
  }
}

function isNothing(token: GlobToken): boolean {
  return token.kind === 'either' && token.branches.length === 0;
}

/** A range of characters as the crate reads it: spelled in bytes, where only the two bytes next to the dash form a range. */
function byteRanges([from, to]: [string, string]): [number, number][] {
  if (from === to) return [...Buffer.from(from)].map((byte) => [byte, byte]);

  const left = [...Buffer.from(from)];
  const right = [...Buffer.from(to)];
  const touching: [number, number] = [left.pop()!, right.shift()!];
  return [touching, ...[...left, ...right].map((byte): [number, number] => [byte, byte])];
}

export function setOf(ranges: [number, number][]): ByteSet {
  const set = new Uint8Array(256);
  for (const [from, to] of ranges) set.fill(1, from, to + 1);
  return set;
}

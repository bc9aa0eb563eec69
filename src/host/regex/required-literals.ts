/**
 * Byte strings of which every match contains at least one, so that text without any need not be searched.
 *
 * A part that matches only a few strings is exact, and adjacent exact parts join into longer strings. At the first part
 * that is not exact, the run so far becomes a candidate: every match contains it. The candidate with few and long
 * strings wins.
 */
import type { Hir, Range } from './hir.ts';

/** Searching for more strings than this is slower than the pattern itself. */
const MAX_STRINGS = 16;
const MAX_STRING_BYTES = 256;
const MAX_TURNS = 16;

/** Strings as latin1 text, one character per byte, so that they compare and join. */
type Strings = readonly string[];

interface Knowledge {
  /** All strings that the part can match; undefined for too many. */
  exact?: Strings;
  /** Every match of the part contains one of these. */
  required?: Strings;
}

/** Undefined when nothing can be proven. */
export function requiredStrings(hir: Hir): Uint8Array[] | undefined {
  const strings = best(study(hir));
  const isLeast = (text: string) => !strings?.some((other) => other !== text && text.includes(other));
  return strings?.filter(isLeast).map((text) => Buffer.from(text, 'latin1'));
}

const EMPTY: Strings = [''];

function study(hir: Hir): Knowledge {
  switch (hir.kind) {
    case 'literal':
      return studyLiteral(Buffer.from(hir.bytes).toString('latin1'));
    case 'class':
      return { exact: membersOf(hir.ranges) };
    case 'look':
      return { exact: EMPTY };
    case 'repeat':
      return studyRepeat(study(hir.sub), hir.min, hir.max);
    case 'concat':
      return studyConcat(hir.parts.map(study));
    case 'either':
      return studyEither(hir.branches.map(study));
  }
}

function studyLiteral(text: string): Knowledge {
  return text.length <= MAX_STRING_BYTES ? { exact: [text] } : { required: [text.slice(0, MAX_STRING_BYTES)] };
}

function membersOf(ranges: Range[]): Strings | undefined {
  const members: string[] = [];
  for (const [first, last] of ranges) {
    if (members.length + last - first >= MAX_STRINGS) return undefined;
    for (let code = first; code <= last; code++)
      members.push(Buffer.from(String.fromCodePoint(code)).toString('latin1'));
  }
  return members;
}

function studyRepeat(sub: Knowledge, min: number, max: number): Knowledge {
  if (max === 0) return { exact: EMPTY };
  if (min === 0) return max === 1 ? { exact: union([sub.exact, EMPTY]) } : {};

  const turns = studyConcat(Array<Knowledge>(Math.min(min, MAX_TURNS)).fill(sub));
  return min === max && min <= MAX_TURNS ? turns : { required: best(turns) };
}

function studyConcat(parts: Knowledge[]): Knowledge {
  let run: Strings = EMPTY;
  let isExact = true;
  const candidates: (Strings | undefined)[] = [];
  for (const part of parts) {
    const joined = part.exact && product(run, part.exact);
    if (joined) {
      run = joined;
      continue;
    }
    candidates.push(run, best(part));
    run = part.exact ?? EMPTY;
    isExact = false;
  }
  return isExact ? { exact: run } : { required: [...candidates, run].reduce(better) };
}

function studyEither(branches: Knowledge[]): Knowledge {
  return { exact: union(branches.map((branch) => branch.exact)), required: union(branches.map(best)) };
}

function best({ exact, required }: Knowledge): Strings | undefined {
  return better(exact, required);
}

/** The more selective of two sets; undefined when neither selects anything. */
function better(one: Strings | undefined, other: Strings | undefined): Strings | undefined {
  const winner = rank(one) >= rank(other) ? one : other;
  return rank(winner) === -Infinity ? undefined : winner;
}

/** Twice as many strings are worth it when each is a byte longer. */
function rank(strings: Strings | undefined): number {
  if (!strings?.length || strings.includes('')) return -Infinity;
  return Math.min(...strings.map((text) => text.length)) - Math.log2(strings.length);
}

function union(sets: (Strings | undefined)[]): Strings | undefined {
  if (sets.includes(undefined)) return undefined;
  return bounded([...new Set(sets.flatMap((set) => set!))]);
}

function product(heads: Strings, tails: Strings): Strings | undefined {
  if (heads.length * tails.length > MAX_STRINGS) return undefined;
  return bounded(heads.flatMap((head) => tails.map((tail) => head + tail)));
}

function bounded(strings: Strings): Strings | undefined {
  const fits = strings.length <= MAX_STRINGS && strings.every((text) => text.length <= MAX_STRING_BYTES);
  return fits ? strings : undefined;
}

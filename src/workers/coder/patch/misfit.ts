/** Explains why a chunk does not match, so that the caller can correct it without reading the file. */
import { findRun, linesOf, type Cursor, type FileSearch, type RunMatch } from './find-run.ts';
import { LEVELS, LOOSE } from './levels.ts';
import { findNearest, type NearestMatch } from './nearest.ts';
import { quote, type Chunk, type SignedLine } from './patch.ts';
import { excerpt, regionOf, type Region } from './region.ts';
import { onlySpacesDiffer, rewriteLines } from './rewrite.ts';

export interface Misfit {
  /** Number of the chunk in its file, from 1. */
  chunk: number;
  /** Message after `chunk 2 of src/a.ts`. */
  problem: string;
  nearest?: Region;
  /** Line that already has the new lines of the chunk. */
  already_applied?: number;
  /** Number of matches, if there are several. */
  places?: number;
  /** Corrected lines of the patch, by index in the patch. */
  rewritten?: ReadonlyMap<number, string>;
}

interface Unplaced {
  chunk: Chunk;
  signed: readonly SignedLine[];
  /** The line named after `@@` that the file lacks. */
  scope?: string;
  /** A rejected match: there are others, or the chunk is already applied (`isThere`). */
  fit?: RunMatch;
  isThere?: boolean;
}

type Why = Omit<Misfit, 'chunk'>;

export async function findMisfit(search: FileSearch, unplaced: Unplaced, cursor: Cursor): Promise<Misfit> {
  const { chunk, signed, scope, fit, isThere } = unplaced;
  const around = chunk.near === undefined ? cursor.at : chunk.near - 1 + cursor.drift;
  const old = scope === undefined ? linesOf(signed, '-') : [scope];
  if (isThere) return { chunk: 0, ...applied(fit!.at, 'to insert it again, send more of the lines around it') };
  if (fit) return { chunk: 0, ...ambiguous(fit) };
  if (old.length === 0) return { chunk: 0, problem: NO_CONTEXT };

  const why =
    (scope === undefined ? await placedElsewhere(search, signed, around) : undefined) ??
    (await differing(search, { signed, old, scope }, around));
  return { chunk: 0, ...why };
}

const NO_CONTEXT = 'does not fit: it has only new lines, so it cannot be placed; send some lines above and below them';

function ambiguous({ at, level, others }: RunMatch): Why {
  const ignored = `when ${LEVELS[level]!} is ignored`;
  return {
    problem: `fits ${others + 1} places ${ignored}, the first at line ${at + 1}; send it as the file has it, or more lines around it`,
    places: others + 1,
  };
}

function applied(at: number, next: string): Why {
  return { problem: `is already applied: its new lines are at line ${at + 1}; ${next}`, already_applied: at + 1 };
}

/** Checks whether the chunk matches above the previous one, or is already applied. */
async function placedElsewhere(
  search: FileSearch,
  signed: readonly SignedLine[],
  near: number,
): Promise<Why | undefined> {
  const above = await findRun(search, linesOf(signed, '-'), { from: 0, near });
  if (above) {
    const problem = `matches line ${above.at + 1}, above the end of the previous chunk; put the chunks in the order of the file`;
    return { problem };
  }
  const there = isRecognizable(signed) ? await findRun(search, linesOf(signed, '+'), { from: 0, near }) : undefined;
  return there && (there.level < LOOSE || there.others === 0) ? applied(there.at, 'leave it out') : undefined;
}

/** True if the result of a chunk can be recognized: it adds lines, or joins context lines by removing those between. */
function isRecognizable(signed: readonly SignedLine[]): boolean {
  const isKept = ({ sign, text }: SignedLine) => sign === ' ' && text.trim() !== '';
  const removed = signed.findIndex(({ sign }) => sign === '-');
  if (signed.some(({ sign, text }) => sign === '+' && text.trim() !== '')) return true;
  return signed.findIndex(isKept) < removed && signed.findLastIndex(isKept) > removed && signed.some(isKept);
}

async function differing(
  search: FileSearch,
  { signed, old, scope }: { signed: readonly SignedLine[]; old: readonly string[]; scope: string | undefined },
  around: number,
): Promise<Why> {
  const { source, lastLevel, turns } = search;
  const [table, last] = [await source.table(LOOSE, turns), await source.table(lastLevel, turns)];
  const nearest = await findNearest(source, old, { table, last, around, turns });
  const name =
    scope === undefined ? 'does not fit' : `does not fit: the file has no line ${quote(scope)}, which its "@@" names`;
  if (!nearest) {
    const start = {
      at: Math.min(Math.max(around, 0), source.length),
      matched: 0,
      of: old.length,
      firstDifference: undefined,
    };
    const problem = scope === undefined ? `${name}: none of its lines is in the file` : name;
    return { problem, nearest: regionOf(source, old, start) };
  }
  if (turns.isOver) await turns.next();
  const region = regionOf(source, old, nearest);
  const doubled = scope === undefined ? await doubledSigns(search, signed, around) : undefined;
  if (turns.isOver) await turns.next();
  const canRewrite = scope === undefined && isWhole(signed) && onlySpacesDiffer(source, old, nearest.at);
  return {
    problem: `${name}${scope === undefined ? ':' : ';'} ${doubled ?? difference(region, nearest)}`,
    nearest: region,
    ...(canRewrite && { rewritten: rewriteLines(source, signed, nearest.at) }),
  };
}

/** True if each line is a whole line of the patch; lines with a carriage return were split into parts. */
function isWhole(signed: readonly SignedLine[]): boolean {
  return signed.every(({ index }, i) => i === 0 || index > signed[i - 1]!.index);
}

function difference({ first_difference: first }: Region, { at, firstDifference }: NearestMatch): string {
  const start = `the nearest place is line ${Math.max(at, 0) + 1}`;
  if (!first || firstDifference === undefined) return start;
  const [expected, found] = excerpt(first.expected, first.found ?? '');
  if (first.found === null) return `${start}, where the file ends before ${quote(expected)}`;
  return `${start}, where line ${first.line} is ${quote(found)} and not ${quote(expected)}`;
}

/** Detects a second sign in each line: some models write it twice, or take the mark of a list for one. */
async function doubledSigns(
  search: FileSearch,
  signed: readonly SignedLine[],
  near: number,
): Promise<string | undefined> {
  const bare = signed.map((line) => (line.sign === ' ' ? line : { ...line, text: line.text.replace(/^[-+] ?/, '') }));
  if (!bare.some(({ text, sign }, i) => sign === '-' && text !== signed[i]!.text)) return undefined;
  const fit = await findRun(search, linesOf(bare, '-'), { from: 0, near });
  return fit && `without the second sign of its lines it fits line ${fit.at + 1}; write one "-" or "+" before a line`;
}

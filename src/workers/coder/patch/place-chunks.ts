/**
 * Finds the lines of a file that each chunk matches, by content.
 *
 * A chunk is searched for after the previous one, level by level. Returns edits, or why a chunk does not match; nothing
 * is changed here.
 */
import type { Turns } from '#host';
import { runOf, fitsAt } from './find-fits.ts';
import { Cursor, findRun, linesOf, type FileSearch, type RunMatch } from './find-run.ts';
import { LAST_LEVEL, LEVELS, LOOSE, type Fuzz, type Level } from './levels.ts';
import { findMisfit, type Misfit } from './misfit.ts';
import { signedInTurns, type Chunk, type PatchLines, type SignedLine } from './patch.ts';
import { Indentation } from './reindent.ts';
import type { Source } from './source.ts';

/** Most chunks without a match that one failure reports. */
export const MAX_MISFITS = 10;

/** Replaces `removed` lines from line `at` on by `added`. */
export interface Edit {
  at: number;
  removed: number;
  added: string[];
  /** The last added line gets no line ending if it is the last of the file. */
  lacksNewline: boolean;
}

export interface PlacedChunk {
  chunk: number;
  /** Line of the match in the file before the patch, from 1. */
  line: number;
  level: Level;
  other_places?: number;
  reindented?: true;
  added: number;
  removed: number;
}

export interface Placement {
  edits: Edit[];
  placed: PlacedChunk[];
  /** Chunks without a match, in the order of the patch. */
  misfits: Misfit[];
}

export async function placeChunks(
  source: Source,
  {
    chunks,
    lines,
    fuzz,
    maxMisfits = MAX_MISFITS,
  }: { chunks: readonly Chunk[]; lines: PatchLines; fuzz: Fuzz; maxMisfits?: number },
  turns: Turns,
): Promise<Placement> {
  const search = { source, lastLevel: LAST_LEVEL[fuzz], turns };
  const placement: Placement = { edits: [], placed: [], misfits: [] };
  const cursor = new Cursor();
  for (const [i, chunk] of chunks.entries()) {
    if (turns.isOver) await turns.next();
    const signed = asInFile(await signedInTurns(lines, chunk, turns), source);
    const found = await placeChunk(search, { chunk, signed }, cursor);
    if ('problem' in found) {
      placement.misfits.push({ ...found, chunk: i + 1 });
      if (placement.misfits.length === maxMisfits) break;
      continue;
    }
    const indentation = found.level >= LOOSE ? Indentation.between(found.signed, source, found.at) : undefined;
    const edits = editsOf(found, chunk, indentation);
    for (const edit of edits) placement.edits.push(edit);
    placement.placed.push(placedChunk(i + 1, found, indentation));
    const last = edits.at(-1);
    const changed = last ? last.at + last.removed : found.at + found.old.length;
    cursor.pass(chunk, { at: found.at, length: found.old.length, changed });
  }
  return placement;
}

/**
 * Splits the lines of a chunk like those of the file: a lone carriage return ends a line, and the byte order mark is not
 * part of the first line.
 */
function asInFile(signed: SignedLine[], { bom }: Source): SignedLine[] {
  const isSplit = signed.some(({ sign, text }) => sign !== '+' && text.includes('\r'));
  const parts = isSplit ? signed.flatMap(splitReturns) : signed;
  if (bom === '' || !parts.slice(0, 2).some(({ text }) => text.startsWith(bom))) return parts;
  return parts.map((line, i) => (i < 2 && line.text.startsWith(bom) ? { ...line, text: line.text.slice(1) } : line));
}

function splitReturns(line: SignedLine): SignedLine[] {
  return line.sign === '+' ? [line] : line.text.split('\r').map((text) => ({ ...line, text }));
}

/** A match of a chunk, with the lines that were matched. */
interface FoundChunk extends RunMatch {
  signed: readonly SignedLine[];
  old: readonly string[];
}

async function placeChunk(
  search: FileSearch,
  { chunk, signed }: { chunk: Chunk; signed: SignedLine[] },
  cursor: Cursor,
): Promise<FoundChunk | Misfit> {
  for (const scope of chunk.scopes) {
    const found = await findRun(search, [scope], { from: cursor.at });
    if (!found) return findMisfit(search, { chunk, signed, scope }, cursor);
    cursor.at = cursor.changed = found.at + 1;
  }
  const fit = (await findSigned(search, chunk, signed, cursor)) ?? (await findBeforeEnd(search, chunk, signed, cursor));
  if (!fit) return findMisfit(search, { chunk, signed }, cursor);

  const isUnsure = fit.level >= LOOSE && fit.others > 0;
  const isThere = !fit.signed.some(({ sign }) => sign === '-') && (await hasResult(search, fit));
  return isUnsure || isThere ? findMisfit(search, { chunk, signed, fit, isThere }, cursor) : fit;
}

/** Matches at the end of the file without the last empty context lines: models count the end after the newline as a line. */
async function findBeforeEnd(search: FileSearch, chunk: Chunk, signed: readonly SignedLine[], cursor: Cursor) {
  const last = signed.findLastIndex(({ sign, text }) => sign !== ' ' || text !== '');
  const rest = signed.slice(0, last + 1);
  if (rest.length === signed.length || !rest.some(({ sign }) => sign !== '+')) return undefined;
  const fit = await findSigned(search, { ...chunk, isAtEnd: true }, rest, cursor);
  return fit && fit.at + fit.old.length === search.source.length ? fit : undefined;
}

async function findSigned(
  search: FileSearch,
  chunk: Chunk,
  signed: readonly SignedLine[],
  cursor: Cursor,
): Promise<FoundChunk | undefined> {
  const old = linesOf(signed, '-');
  if (old.length === 0) {
    const at = emptyPlace(search.source, chunk, cursor);
    return at === undefined ? undefined : { at, level: 0, others: 0, signed, old };
  }
  const near = chunk.near === undefined ? undefined : chunk.near - 1 + cursor.drift;
  const wanted = { near, isAtEnd: chunk.isAtEnd };
  const below = await findRun(search, old, { ...wanted, from: cursor.at });
  const isBest = below?.level === 0 || cursor.changed === cursor.at;
  const shared = isBest ? undefined : await findRun(search, old, { ...wanted, from: cursor.changed });
  // A stricter match that shares context lines with the previous chunk is better than a looser one below.
  const fit = below && (!shared || shared.level >= below.level) ? below : shared;
  return fit && { ...fit, signed, old };
}

/** Position of a chunk without old lines: below its scope, at the end, or at the start if its `@@` header says line 0. */
function emptyPlace({ length }: Source, { near, scopes }: Chunk, cursor: Cursor): number | undefined {
  if (scopes.length > 0) return cursor.at;
  if (near === undefined || near >= length) return length;
  return near === 0 && cursor.at === 0 ? 0 : undefined;
}

/** True if the new lines of a chunk are already at or directly above its match: applying it would duplicate them. */
async function hasResult({ source, turns }: FileSearch, { at, level, old, signed }: FoundChunk): Promise<boolean> {
  const table = await source.table(level, turns);
  const made = await runOf(linesOf(signed, '+'), table, turns);
  if (!made) return false;
  const above = old.length === 0 ? made.length : signed.findIndex(({ sign }) => sign !== '+');
  return fitsAt(table, made, at) || fitsAt(table, made, at - above);
}

/** Context lines are not part of an edit, so that they keep the bytes of the file. */
function editsOf(fit: FoundChunk, { lacksNewline }: Chunk, indentation: Indentation | undefined): Edit[] {
  const edits: Edit[] = [];
  let at = fit.at;
  let open: Edit | undefined;
  for (const [i, { sign, text }] of fit.signed.entries()) {
    if (sign === ' ') {
      open = undefined;
      at++;
      continue;
    }
    if (!open) edits.push((open = { at, removed: 0, added: [], lacksNewline }));
    if (sign === '+') open.added.push(indentation ? indentation.fit(text, i) : text);
    else open.removed++;
    if (sign === '-') at++;
  }
  return edits;
}

function placedChunk(chunk: number, { at, level, others, signed }: FoundChunk, indentation?: Indentation): PlacedChunk {
  const count = (wanted: string) => signed.reduce((sum, { sign }) => sum + (sign === wanted ? 1 : 0), 0);
  return {
    chunk,
    line: at + 1,
    level: LEVELS[level]!,
    ...(others > 0 && { other_places: others }),
    ...(indentation?.isChanged && { reindented: true as const }),
    added: count('+'),
    removed: count('-'),
  };
}

/**
 * A parsed patch, the same for both forms.
 *
 * A chunk is a range of the lines of the patch, not a copy: a patch of millions of lines takes little memory, and a
 * failure can quote or correct a line by its index.
 */
import type { Turns } from '#host';
import { errors } from '../errors.ts';

/** Lines handled between two checks of the turn: less than 1 ms of work. */
export const LINES_AT_ONCE = 4096;

export interface Patch {
  readonly lines: PatchLines;
  /** Indexes of the lines that end with CRLF. */
  readonly withReturn: ReadonlySet<number>;
  /** Sections in the order of the patch: a later section of the same file applies to the result of the earlier one. */
  readonly files: readonly FilePatch[];
}

/** The text of a patch, line by line, without line endings. */
export type PatchLines = readonly string[];

export interface FilePatch {
  kind: 'add' | 'delete' | 'update';
  path: string;
  /** New path of an updated file. */
  to?: string;
  mode?: number;
  /** Index of the line that names the file. */
  readonly index: number;
  readonly chunks: Chunk[];
}

export interface Chunk {
  /** Index of its first signed line. */
  from: number;
  /** Index after its last signed line. */
  until: number;
  /** Lines of the file above the chunk, from its `@@` headers, in file order. */
  readonly scopes: string[];
  /** Start line from its `@@` header, from 1; 0 is before the first line. */
  near?: number;
  /** True if a marker puts it at the end of the file. */
  isAtEnd: boolean;
  /** True if a marker states that its new lines end without a newline. */
  lacksNewline: boolean;
}

/** Keeps (space), removes (`-`) or adds (`+`) a line. */
export type Sign = ' ' | '-' | '+';

export interface SignedLine {
  readonly sign: Sign;
  readonly text: string;
  /** Index in the lines of the patch. */
  readonly index: number;
}

export function newChunk(from: number): Chunk {
  return { from, until: from, scopes: [], isAtEnd: false, lacksNewline: false };
}

/** The failure of a patch with a syntax error. */
export function badLine(index: number, problem: string): Error {
  return errors.fail('C210', { problem: `line ${index + 1} of the patch: ${problem}` });
}

export function isSigned(line: string): boolean {
  return line.startsWith(' ') || line.startsWith('+') || line.startsWith('-');
}

/** Quotes a line for a message; shortens a long one. */
export function quote(line: string): string {
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line);
}

/** The lines of a chunk with their signs. A line without a sign is an empty context line: editors strip its space. */
export function signedLines(lines: PatchLines, { from, until }: Pick<Chunk, 'from' | 'until'>): SignedLine[] {
  const signed: SignedLine[] = [];
  for (let index = from; index < until; index++) {
    const line = lines[index]!;
    if (!line.startsWith('\\')) signed.push({ sign: (line[0] as Sign | undefined) ?? ' ', text: line.slice(1), index });
  }
  return signed;
}

/** Like `signedLines`, but yields between batches of a long chunk. */
export async function signedInTurns(lines: PatchLines, { from, until }: Chunk, turns: Turns): Promise<SignedLine[]> {
  const signed = signedLines(lines, { from, until: Math.min(from + LINES_AT_ONCE, until) });
  for (let at = from + LINES_AT_ONCE; at < until; at += LINES_AT_ONCE) {
    if (turns.isOver) await turns.next();
    signed.push(...signedLines(lines, { from: at, until: Math.min(at + LINES_AT_ONCE, until) }));
  }
  return signed;
}

export function isChunkHeader(line: string): boolean {
  return /^@@(?:\s|$)/.test(line);
}

const NUMBERS = /^-(\d+)(?:,\d+)? \+\d+(?:,\d+)?(?: @@.*)?$/;

/** Parses the text after `@@`: the start line, a line of the file above the chunk, or nothing. */
export function readChunkHeader(chunk: Chunk, line: string): void {
  const text = line.trim().slice(2).trim();
  const [, near] = NUMBERS.exec(text) ?? [];
  const scope = text.replace(/\s*@@$/, '');
  if (near !== undefined) chunk.near = Number(near);
  else if (!/^[.…]*$/.test(scope)) chunk.scopes.push(scope);
}

/** Parses `\ No newline at end of file`, which refers to the line above it. */
export function readEndMarker(chunk: Chunk, lineAbove: string | undefined): void {
  chunk.isAtEnd = true;
  if (lineAbove?.startsWith('-') !== true) chunk.lacksNewline = true;
}

/**
 * Parses the V4A form, which begins with `*** Begin Patch`.
 *
 * Some models indent its markers. An indented marker is accepted only outside of a chunk: inside, it is a line of a file
 * that contains a patch.
 */
import type { Turns } from '#host';
import { badLine, isChunkHeader, isSigned, newChunk, quote, readChunkHeader, readEndMarker } from './patch.ts';
import type { Chunk, FilePatch, PatchLines } from './patch.ts';

const END = '*** End Patch';
const HEADERS = '"*** Add File: ", "*** Delete File: " or "*** Update File: "';
const HEADER = /^\*\*\* (Add|Delete|Update) File:(.*)$/;
const MOVE = /^\*\*\* Move to:(.*)$/;
const INDENTED_MARKER = /^\s+(?:\*\*\* (?:(?:Add|Delete|Update) File|Move to|Environment ID):|@@(?:\s|$))/;

export async function parseV4a(
  lines: PatchLines,
  { from, until }: { from: number; until: number },
  turns: Turns,
): Promise<FilePatch[]> {
  let last = until - 1;
  while (lines[last]!.trim() === '') last--;
  const reader = new V4aReader(lines);
  for (let index = from + 1; index < last; index++) {
    reader.take(index);
    if ((index & 4095) === 0 && turns.isOver) await turns.next();
  }
  if (lines[last]!.trim() !== END)
    throw badLine(last, `the last line of the patch must be "${END}", not ${quote(lines[last]!)}`);
  return reader.finish();
}

class V4aReader {
  readonly #lines: PatchLines;
  readonly #files: FilePatch[] = [];
  #chunk: Chunk | undefined;

  constructor(lines: PatchLines) {
    this.#lines = lines;
  }

  take(index: number): void {
    const line = this.#lines[index]!;
    const isIndented = !this.#isOpen && INDENTED_MARKER.test(line);
    const text = isIndented ? line.trim() : line;
    if (text.startsWith('***')) this.#takeMarker(text.trimEnd(), index);
    else if (this.#file) this.#takeLine(this.#file, text, index);
    else if (line.trim() !== '') throw badLine(index, `expected ${HEADERS}, not ${quote(line)}`);
  }

  finish(): FilePatch[] {
    this.#closeFile();
    return this.#files;
  }

  get #file(): FilePatch | undefined {
    return this.#files.at(-1);
  }

  /** True if a chunk with lines is open, so that an indented marker is one of them. */
  get #isOpen(): boolean {
    return this.#chunk !== undefined && this.#chunk.until > this.#chunk.from;
  }

  #takeMarker(marker: string, index: number): void {
    const [, kind, path] = HEADER.exec(marker) ?? [];
    const [, to] = MOVE.exec(marker) ?? [];
    if (kind !== undefined) this.#startFile(kind.toLowerCase() as FilePatch['kind'], path!, index);
    else if (to !== undefined) this.#moveTo(to.trim(), index);
    else if (marker === '*** End of File' && this.#isOpen) this.#endChunkAtEnd();
    else if (marker === END) throw badLine(index + 1, `nothing may follow "${END}"`);
    else if (!(marker.startsWith('*** Environment ID:') && !this.#file)) {
      throw badLine(index, `expected ${HEADERS} or "${END}", not ${quote(marker)}`);
    }
  }

  #startFile(kind: FilePatch['kind'], path: string, index: number): void {
    this.#closeFile();
    if (path.trim() === '') throw badLine(index, 'the path is missing');
    const file: FilePatch = { kind, path: path.trim(), index, chunks: [] };
    this.#files.push(file);
    if (kind === 'add') this.#startChunk(index + 1);
  }

  #moveTo(to: string, index: number): void {
    const file = this.#file;
    if (file?.kind !== 'update' || file.to !== undefined || file.chunks.length > 0) {
      throw badLine(index, '"*** Move to: " is allowed once, directly below "*** Update File: "');
    }
    if (to === '') throw badLine(index, 'the path is missing');
    file.to = to;
  }

  #endChunkAtEnd(): void {
    this.#chunk!.isAtEnd = true;
    this.#closeChunk();
  }

  #takeLine(file: FilePatch, line: string, index: number): void {
    if (file.kind === 'add') return this.#takeAdded(line, index);
    if (file.kind === 'update') return this.#takeChunkLine(line, index);
    if (line.trim() !== '') throw badLine(index, `"*** Delete File: " takes no lines; remove ${quote(line)}`);
  }

  #takeAdded(line: string, index: number): void {
    const chunk = this.#chunk!;
    if (line.startsWith('+') && chunk.until === index) chunk.until++;
    else if (line.startsWith('+')) throw badLine(index - 1, 'an empty line of a new file is written as "+"');
    else if (line.trim() !== '') throw badLine(index, `a line of a new file begins with "+", not ${quote(line)}`);
  }

  #takeChunkLine(line: string, index: number): void {
    if (isChunkHeader(line)) return this.#takeChunkHeader(line, index);
    // An empty line belongs to the chunk only if other lines follow.
    if (line === '') return;

    const chunk = this.#chunk ?? this.#startChunk(index);
    if (line.startsWith('\\')) readEndMarker(chunk, this.#lines[index - 1]);
    else if (!isSigned(line)) {
      throw badLine(index, `a line of an update begins with " ", "-" or "+", not ${quote(line)}`);
    }
    chunk.until = index + 1;
  }

  /** Several headers in a row belong to one chunk; each narrows the lines that it may match. */
  #takeChunkHeader(line: string, index: number): void {
    const isFirst = !this.#chunk || this.#isOpen;
    if (isFirst) this.#closeChunk();
    const chunk = isFirst ? this.#startChunk(index + 1) : this.#chunk!;
    chunk.from = chunk.until = index + 1;
    readChunkHeader(chunk, line);
  }

  #startChunk(from: number): Chunk {
    this.#chunk = newChunk(from);
    this.#file!.chunks.push(this.#chunk);
    return this.#chunk;
  }

  #closeChunk(): void {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    if (chunk && chunk.until === chunk.from && this.#file?.kind === 'update') {
      throw badLine(chunk.from - 1, 'a chunk without lines; write lines that begin with " ", "-" or "+" below "@@"');
    }
  }

  #closeFile(): void {
    this.#closeChunk();
    const file = this.#file;
    if (file?.kind === 'update' && file.chunks.length === 0 && file.to === undefined) {
      throw badLine(file.index, `the update of ${file.path} has no lines`);
    }
  }
}

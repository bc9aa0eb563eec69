/**
 * Parses unified diffs: of git, `git format-patch`, `diff -u` and models.
 *
 * Chunks are placed by their content, so the counts in `@@` only resolve ambiguous lines: an empty line at the end, and
 * `--- ` followed by `+++ `, which are either two changed lines or the names of the next file.
 */
import type { Turns } from '#host';
import { badLine, isChunkHeader, isSigned, newChunk, quote, readChunkHeader, readEndMarker } from './patch.ts';
import type { Chunk, FilePatch, PatchLines } from './patch.ts';
import { nameOf, sharedName, sidesOf } from './unified-names.ts';

const COUNTS = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** Lines that end a chunk besides the next header: output of git or svn, or the start of a mail. */
const TEXT = /^(?:diff |Index: |From [0-9a-f]{40} )/;

/** Header lines of unsupported changes, each with its error message. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^(?:GIT binary patch|Binary files .* differ$)/, 'binary files cannot be patched; write them with shell::fs::write'],
  [/^copy (?:from|to) /, 'files cannot be copied by a patch; add the new file with all its lines'],
  [/^diff --(?:cc|combined) /, 'a merge diff has several old sides; make the diff against one parent'],
  [/^(?:(?:new file|deleted file|old|new) mode|index \S+) 160000$/, 'submodules cannot be patched; run git in them'],
  [
    /^(?:(?:new file|deleted file|old|new) mode|index \S+) 120000$/,
    'symlinks cannot be patched; create them with a command',
  ],
];

/** A file whose headers are not all read: git writes its names in several of them. */
interface Draft extends Omit<FilePatch, 'path'> {
  path?: string;
  hasSides?: true;
}

export async function parseUnified(
  lines: PatchLines,
  { from, until }: { from: number; until: number },
  turns: Turns,
): Promise<FilePatch[]> {
  const reader = new UnifiedReader(lines, until);
  for (let index = from; index < until; index++) {
    if (reader.take(index)) index++;
    if ((index & 4095) === 0 && turns.isOver) await turns.next();
  }
  return reader.finish();
}

class UnifiedReader {
  readonly #lines: PatchLines;
  readonly #until: number;
  readonly #files: Draft[] = [];
  #chunk: Chunk | undefined;
  /** Old and new lines that the open chunk still lacks by its counts. */
  #left = { old: 0, made: 0 };

  constructor(lines: PatchLines, until: number) {
    this.#lines = lines;
    this.#until = until;
  }

  /** Parses a line; returns true if it parsed the next one too. */
  take(index: number): boolean {
    const line = this.#lines[index]!;
    if (this.#areSides(index)) return this.#takeSides(index);
    if (isChunkHeader(line)) this.#startChunk(index);
    else if (TEXT.test(line)) this.#takeText(line, index);
    else if (this.#chunk) this.#takeChunkLine(this.#chunk, line, index);
    else this.#takeHeader(line, index);
    return false;
  }

  finish(): FilePatch[] {
    const files = this.#finishAll();
    refuseChains(files);
    return files;
  }

  #finishAll(): FilePatch[] {
    return this.#files.map((file) => {
      const { path, hasSides, ...rest } = file;
      if (path === undefined) throw badLine(file.index, 'the two names differ; add "rename from" and "rename to"');
      const isEmpty = file.kind === 'update' && file.chunks.length === 0;
      if (isEmpty && file.to === undefined && file.mode === undefined) {
        throw badLine(file.index, `the diff of ${path} has no chunk, which begins with "@@"`);
      }
      const bare = file.chunks.find(({ from, until }) => from === until);
      if (bare)
        throw badLine(bare.from - 1, 'a chunk without lines; write lines that begin with " ", "-" or "+" below "@@"');
      if (file.kind === 'add') this.#requireAdded(file);
      return { ...rest, path };
    });
  }

  /** Throws if a new file has context or removed lines. */
  #requireAdded({ chunks }: Draft): void {
    for (const { from, until } of chunks) {
      for (let index = from; index < until; index++) {
        const line = this.#lines[index]!;
        if (!/^[+\\]/.test(line)) throw badLine(index, `a line of a new file begins with "+", not ${quote(line)}`);
      }
    }
  }

  get #file(): Draft | undefined {
    return this.#files.at(-1);
  }

  /** True if the line and the next name a file. Inside a chunk they are changed lines if its counts lack exactly these. */
  #areSides(index: number): boolean {
    const [line, next] = [this.#lines[index]!, index + 1 < this.#until ? this.#lines[index + 1]! : ''];
    if (!line.startsWith('--- ') || !next.startsWith('+++ ')) return false;
    if (!this.#chunk) return true;
    const isChunkNext = index + 2 < this.#until && isChunkHeader(this.#lines[index + 2]!);
    return isChunkNext && !(this.#left.old === 1 && this.#left.made === 1);
  }

  #takeSides(index: number): true {
    this.#chunk = undefined;
    const { old, made } = sidesOf(this.#lines[index]!.slice(4), this.#lines[index + 1]!.slice(4), index);
    if (!this.#file || this.#file.hasSides) this.#files.push({ kind: 'update', index, chunks: [] });
    const file = this.#file!;
    file.hasSides = true;
    if (old === undefined && made === undefined) throw badLine(index, 'both names are /dev/null; one must be a file');
    if (old === undefined || made === undefined) {
      file.kind = old === undefined ? 'add' : 'delete';
      file.path = (old ?? made)!;
    } else if (file.to === undefined && old !== made) {
      const how = 'to move the file, add the lines "rename from" and "rename to"; if not, write one name twice';
      throw badLine(index, `the names ${quote(old)} and ${quote(made)} differ; ${how}`);
    } else {
      file.path ??= old;
    }
    return true;
  }

  #startChunk(index: number): void {
    const line = this.#lines[index]!;
    if (this.#file?.path === undefined) throw badLine(index, 'a chunk needs "--- " and "+++ " lines above it');
    const [, old = '1', made = '1'] = COUNTS.exec(line) ?? [undefined, '0', '0'];
    this.#left = { old: Number(old), made: Number(made) };
    this.#chunk = newChunk(index + 1);
    readChunkHeader(this.#chunk, line);
    this.#file.chunks.push(this.#chunk);
  }

  #takeText(line: string, index: number): void {
    this.#chunk = undefined;
    refuse(line, index);
    if (!line.startsWith('diff --git ')) return;
    const path = sharedName(line.slice('diff --git '.length), index);
    this.#files.push({ kind: 'update', index, chunks: [], ...(path !== undefined && { path }) });
  }

  #takeChunkLine(chunk: Chunk, line: string, index: number): void {
    if (line.startsWith('\\')) return readEndMarker(chunk, this.#lines[index - 1]);
    if (line === '-- ' && this.#left.old <= 0 && this.#left.made <= 0) return void (this.#chunk = undefined);
    if (line !== '' && !isSigned(line)) {
      throw badLine(index, `a line of a chunk begins with " ", "-" or "+", not ${quote(line)}`);
    }
    const isCounted = this.#left.old > 0 && this.#left.made > 0;
    if (!line.startsWith('+')) this.#left.old--;
    if (!line.startsWith('-')) this.#left.made--;
    if (line !== '' || isCounted) chunk.until = index + 1;
  }

  #takeHeader(line: string, index: number): void {
    refuse(line, index);
    const file = this.#file;
    if (!file || file.hasSides) return;

    const [, what, mode] = /^(new file|deleted file|new) mode (\d{6})$/.exec(line) ?? [];
    if (what === 'new file') file.kind = 'add';
    if (what === 'deleted file') file.kind = 'delete';
    if (mode !== undefined && what !== 'deleted file') file.mode = Number.parseInt(mode.slice(-3), 8);
    const [, side, name] = /^rename (from|to) (.+)$/.exec(line) ?? [];
    if (side === 'from') file.path = nameOf(name!, index);
    if (side === 'to') file.to = nameOf(name!, index);
  }
}

/**
 * A diff describes each file as it was before the whole patch, but sections are applied in order. A section that moves
 * or deletes a file must not come after one that puts another file there.
 */
function refuseChains(files: readonly FilePatch[]): void {
  const taken = new Set<string>();
  for (const { kind, path, to, index } of files) {
    if ((kind === 'delete' || to !== undefined) && taken.has(path)) {
      const problem = `${quote(path)} is moved or deleted here, but a section above puts another file there`;
      throw badLine(index, `${problem}; move this section above that one, or send one patch for each`);
    }
    if (kind === 'add' || to !== undefined) taken.add(to ?? path);
  }
}

function refuse(line: string, index: number): void {
  const [, problem] = REFUSED.find(([sign]) => sign.test(line)) ?? [];
  if (problem !== undefined) throw badLine(index, problem);
}

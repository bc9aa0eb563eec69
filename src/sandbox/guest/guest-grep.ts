/**
 * Finds lines of a guest's files that match a regex. The guest only lists and reads; patterns never reach it.
 *
 * Files are requested in batches and each is searched as it arrives, off the main thread. Walked sizes only shape the
 * batches: a file may have grown since, and the guest may lie.
 */
import {
  compileGlobs,
  FileFault,
  HostError,
  takeTurn,
  TimeLimit,
  TimeLimitError,
  type FileScope,
  type GrepAnswer,
  type GrepRequest,
  type RegexThreads,
} from '#host';
import { asUtf8 } from './as-utf8.ts';
import { GuestError } from './guest-error.ts';
import type { GuestFiles } from './guest-files.ts';
import { LineCounter } from './line-counter.ts';
import { sortInTurns } from './sort-in-turns.ts';

/** Larger files are counted but not searched. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const BATCH_FILES = 256;
const BATCH_BYTES = 1024 * 1024;
const MAX_WALKED = 200_000;
const MAX_PATH_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 512;
const MAX_SKIPPED = 100;

/** A file with a NUL this early is binary. */
const BINARY_BYTES = 8192;

/** Most matches, whatever is requested, and most text of an answer: beyond it there are no further matches. */
const MAX_MATCHES = 100_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const LINES_AT_ONCE = 1024;

const ELLIPSIS = '…';

export interface GuestSearch {
  files: GuestFiles;
  regexes: RegexThreads;
  /** Time limit of a grep, and of the search and replacement of a sed; none when absent. */
  timeoutMs?: number;
}

/** Files to search, with their sizes. */
export interface Found {
  path: string;
  sizeBytes: number;
}

/** Rejects with a `TimeLimitError` that reports the progress. */
export async function grepGuest(
  { timeoutMs, ...guest }: GuestSearch,
  request: GrepRequest,
  { signal }: FileScope,
): Promise<GrepAnswer> {
  using limit = new TimeLimit(timeoutMs, signal);
  const answer: GrepAnswer = { matches: [], isTruncated: false, skipped: [], filesTooLarge: 0 };
  const search = new Search(guest.regexes, request, { answer, signal: limit.signal });
  try {
    await grepInto(search, guest.files, request);
    return answer;
  } catch (error) {
    if (!limit.isBehind(error)) throw error;
    throw new TimeLimitError(timeoutMs!, `: ${search.filesSearched} files searched, ${answer.matches.length} matches`);
  }
}

async function grepInto(search: Search, files: GuestFiles, request: GrepRequest): Promise<void> {
  const { answer, signal } = search;
  const { path } = request;
  const isDirectory = await isDirectoryAt(files, path, signal);
  // Reports a pattern that does not compile before anything is read.
  await search.checkPattern();
  if (isDirectory && !request.recursive) {
    throw new FileFault('bad-request', `${path} is a directory; set recursive: true to search the files in it`);
  }
  const found = isDirectory ? await filesBelow(files, request, { answer, signal }) : [{ path, sizeBytes: 0 }];
  for (const batch of batchesOf(found)) {
    await searchBatch(files, batch, search);
    if (answer.isTruncated) break;
  }
}

/** Whether a path, symlinks followed, is a directory. */
export async function isDirectoryAt(files: GuestFiles, path: string, signal: AbortSignal): Promise<boolean> {
  return (await files.stat(path, { isFollowed: true, signal })).kind === 'directory';
}

/** The selected regular files, in path order. */
export async function filesBelow(
  files: GuestFiles,
  { path, includeGlobs, excludeGlobs }: Pick<GrepRequest, 'path' | 'includeGlobs' | 'excludeGlobs'>,
  { answer, signal }: { answer?: GrepAnswer; signal: AbortSignal },
): Promise<Found[]> {
  const isIncluded = includeGlobs.length === 0 ? () => true : compileGlobs(includeGlobs, { dialect: 'gitignore' });
  const isExcluded = compileGlobs(excludeGlobs, { dialect: 'gitignore' });
  const top = path.endsWith('/') ? path : `${path}/`;
  const found: Found[] = [];
  let walked = 0;
  let pathBytes = 0;
  for await (const rows of files.walk(path, { maxDepth: MAX_DEPTH, signal })) {
    walked += rows.length;
    if (walked > MAX_WALKED) throw tooMuch(`more than ${MAX_WALKED} entries`, path);
    for (const { kind, name, sizeBytes } of rows) {
      if (kind === 'unreadable') skip(answer, `${top}${name}`, new GuestError(sizeBytes, 0));
      if (kind !== 'file' || !isIncluded(name) || isExcluded(name)) continue;
      const file = { path: `${top}${name}`, sizeBytes };
      pathBytes += Buffer.byteLength(file.path);
      found.push(file);
    }
    if (pathBytes > MAX_PATH_BYTES) throw tooMuch(`files whose paths take more than ${MAX_PATH_BYTES} bytes`, path);
    await takeTurn({ signal });
  }
  return sortInTurns(found, (file) => file.path, { signal });
}

function tooMuch(what: string, path: string): FileFault {
  return new FileFault('bad-request', `${what} below ${path}; name a path further down, or fewer with include_glob`);
}

function* batchesOf(found: readonly Found[]): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const { path, sizeBytes } of found) {
    batch.push(path);
    bytes += sizeBytes;
    if (batch.length < BATCH_FILES && bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

async function searchBatch(files: GuestFiles, paths: readonly string[], search: Search): Promise<void> {
  const { answer, signal } = search;
  for await (const { path, content } of files.readMany(paths, { maxBytes: MAX_FILE_BYTES, signal })) {
    if (content instanceof GuestError && content.code === 'EFBIG') answer.filesTooLarge++;
    else if (content instanceof GuestError) skip(answer, path, content);
    else if (!content.subarray(0, BINARY_BYTES).includes(0)) {
      await search.searchText(path, await asUtf8(content, { signal }));
    }
    if (answer.isTruncated) return;
  }
}

/** One search through several texts, until its answer is full. */
class Search {
  readonly answer: GrepAnswer;
  readonly signal: AbortSignal;
  readonly #regexes: RegexThreads;
  readonly #request: GrepRequest;
  readonly #maxMatches: number;
  #answerBytes = 0;
  #filesSearched = 0;

  constructor(
    regexes: RegexThreads,
    request: GrepRequest,
    { answer, signal }: { answer: GrepAnswer; signal: AbortSignal },
  ) {
    this.answer = answer;
    this.signal = signal;
    this.#regexes = regexes;
    this.#request = request;
    this.#maxMatches = Math.min(request.maxMatches, MAX_MATCHES);
  }

  get filesSearched(): number {
    return this.#filesSearched;
  }

  async checkPattern(): Promise<void> {
    const { pattern, ignoreCase } = this.#request;
    await this.#regexes.find({ pattern, ignoreCase, text: Buffer.alloc(0) }, { signal: this.signal });
  }

  async searchText(path: string, text: Buffer): Promise<void> {
    const { signal } = this;
    const { matches } = this.answer;
    const { pattern, ignoreCase, maxLineBytes } = this.#request;
    const limit = this.#maxMatches - matches.length + 1;
    const lines = await this.#regexes.findLines({ pattern, ignoreCase, text, limit }, { signal });
    this.#filesSearched++;
    const counter = new LineCounter(text);
    for (const { lineStart, lineEnd } of lines) {
      this.answer.isTruncated = matches.length === this.#maxMatches || this.#answerBytes > MAX_ANSWER_BYTES;
      if (this.answer.isTruncated) return;
      const line = text.subarray(lineStart, lineEnd);
      this.#answerBytes += path.length + Math.min(line.length, maxLineBytes);
      matches.push({ path, line: await counter.lineAt(lineStart, { signal }), text: shown(line, maxLineBytes) });
      if (matches.length % LINES_AT_ONCE === 0) await takeTurn({ signal });
    }
  }
}

function shown(line: Buffer, maxBytes: number): string {
  if (line.length <= maxBytes) return line.toString();
  let end = maxBytes;
  while (end > 0 && (line[end]! & 0xc0) === 0x80) end--;
  return line.toString('utf8', 0, end) + ELLIPSIS;
}

function skip(answer: GrepAnswer | undefined, path: string, error: GuestError): void {
  if (!answer || answer.skipped.length >= MAX_SKIPPED) return;
  answer.skipped.push({ path, reason: HostError.fromErrno(error, path).reason });
}

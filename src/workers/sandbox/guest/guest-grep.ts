/**
 * Lines of a guest's files that match a regex. The guest only lists and reads; patterns never reach it.
 *
 * Files are asked for in batches and each batch is searched as one text, off the main thread.
 */
import { isUtf8 } from 'node:buffer';

import {
  compileGlobs,
  FileFault,
  HostError,
  type FileScope,
  type GrepAnswer,
  type GrepRequest,
  type RegexThreads,
} from '#host';
import { GuestError } from './guest-error.ts';
import type { GuestFiles } from './guest-files.ts';

/** Larger files are counted and not searched. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const BATCH_FILES = 256;
const BATCH_BYTES = 1024 * 1024;
const MAX_WALKED = 1_000_000;
const MAX_DEPTH = 512;
const MAX_SKIPPED = 100;

/** A file with a NUL this early is not text. */
const BINARY_BYTES = 8192;

const ELLIPSIS = '…';
const LINE_FEED = 0x0a;

export interface GuestSearch {
  files: GuestFiles;
  regexes: RegexThreads;
}

/** Files to search, with their sizes. */
export interface Found {
  path: string;
  sizeBytes: number;
}

export async function grepGuest(
  { files, regexes }: GuestSearch,
  request: GrepRequest,
  { signal }: FileScope,
): Promise<GrepAnswer> {
  const { pattern, ignoreCase, path } = request;
  const isDirectory = await isDirectoryAt(files, path, signal);
  // A pattern that cannot be read is told before anything is.
  await regexes.find({ pattern, ignoreCase, text: Buffer.alloc(0) }, { signal });
  if (isDirectory && !request.recursive) {
    throw new FileFault('bad-request', `${path} is a directory; it is searched when recursive is true`);
  }
  const answer: GrepAnswer = { matches: [], isTruncated: false, skipped: [], filesTooLarge: 0 };
  const found = isDirectory ? await filesBelow(files, request, { answer, signal }) : [{ path, sizeBytes: 0 }];
  for (const batch of batchesOf(found)) {
    const texts = await readTexts(files, batch, { answer, signal });
    await searchTexts(texts, { regexes, request, answer, signal });
    if (answer.isTruncated) break;
  }
  return answer;
}

/** Whether a path, followed, is a directory. */
export async function isDirectoryAt(files: GuestFiles, path: string, signal: AbortSignal): Promise<boolean> {
  return (await files.stat(path, { isFollowed: true, signal })).kind === 'directory';
}

/** The regular files that are meant, in the order of their paths. */
export async function filesBelow(
  files: GuestFiles,
  { path, includeGlobs, excludeGlobs }: Pick<GrepRequest, 'path' | 'includeGlobs' | 'excludeGlobs'>,
  { answer, signal }: { answer?: GrepAnswer; signal: AbortSignal },
): Promise<Found[]> {
  const isIncluded = includeGlobs.length === 0 ? () => true : compileGlobs(includeGlobs, { dialect: 'plain-segments' });
  const isExcluded = compileGlobs(excludeGlobs, { dialect: 'plain-segments' });
  const top = path.endsWith('/') ? path : `${path}/`;
  const found: Found[] = [];
  let walked = 0;
  for await (const rows of files.walk(path, { maxDepth: MAX_DEPTH, signal })) {
    walked += rows.length;
    if (walked > MAX_WALKED) throw new FileFault('bad-request', `more than ${MAX_WALKED} entries below ${path}`);
    for (const { kind, name, sizeBytes } of rows) {
      if (kind === 'unreadable') skip(answer, `${top}${name}`, new GuestError(sizeBytes, 0));
      else if (kind === 'file' && isIncluded(name) && !isExcluded(name))
        found.push({ path: `${top}${name}`, sizeBytes });
    }
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
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

interface Text {
  path: string;
  bytes: Buffer;
}

async function readTexts(
  files: GuestFiles,
  paths: readonly string[],
  { answer, signal }: { answer: GrepAnswer; signal: AbortSignal },
): Promise<Text[]> {
  const texts: Text[] = [];
  for await (const { path, content } of files.readMany(paths, { maxBytes: MAX_FILE_BYTES, signal })) {
    if (content instanceof GuestError && content.code === 'EFBIG') answer.filesTooLarge++;
    else if (content instanceof GuestError) skip(answer, path, content);
    else if (!content.subarray(0, BINARY_BYTES).includes(0)) texts.push({ path, bytes: asUtf8(content) });
  }
  return texts;
}

/** What is no UTF-8 is searched with replacement characters in its place; lines stay where they are. */
function asUtf8(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString());
}

async function searchTexts(
  texts: readonly Text[],
  search: { regexes: RegexThreads; request: GrepRequest; answer: GrepAnswer; signal: AbortSignal },
): Promise<void> {
  const { regexes, request, answer, signal } = search;
  for (const { path, bytes } of texts) {
    const { pattern, ignoreCase, maxMatches, maxLineBytes } = request;
    const limit = maxMatches - answer.matches.length + 1;
    const lines = await regexes.findLines({ pattern, ignoreCase, text: bytes, limit }, { signal });
    const counter = new LineCounter(bytes);
    for (const { lineStart, lineEnd } of lines) {
      answer.isTruncated = answer.matches.length === maxMatches;
      if (answer.isTruncated) return;
      const text = shown(bytes.subarray(lineStart, lineEnd), maxLineBytes);
      answer.matches.push({ path, line: counter.lineAt(lineStart), text });
    }
  }
}

/** Line numbers of growing offsets. */
class LineCounter {
  readonly #bytes: Buffer;
  #at = 0;
  #line = 1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  lineAt(offset: number): number {
    for (;;) {
      const feed = this.#bytes.indexOf(LINE_FEED, this.#at);
      if (feed < 0 || feed >= offset) return this.#line;
      this.#at = feed + 1;
      this.#line++;
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

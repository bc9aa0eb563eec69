/**
 * Some lines of a file, numbered, found without holding the file in memory.
 *
 * Lines keep their endings. An answer is bounded: the rest is omitted, and `truncated` is set.
 */
import {
  bytesAsSource,
  endsWithNewline,
  LineIndex,
  lineStart,
  readLines,
  wholeCharacters,
  type ByteSource,
  type JailFile,
} from '#host';
import { decodeText, decodeWhole, hasPlainLines, type Encoding } from './encodings.ts';
import { errors } from './errors.ts';
import { numberLines } from './numbered-lines.ts';
import type { FilesystemContext } from './worker.ts';

/** Files up to this size are read at once, which is cheaper than block by block. */
const SMALL_BYTES = 1 << 20;

/** Lines of a larger file are counted only as far as requested. */
const COUNTED_BYTES = 64 * 2 ** 20;

/** Content of this size fits into a message of the bus, also with line numbers and as JSON. */
const MAX_CONTENT_BYTES = 8 * 2 ** 20;
const MAX_CONTENT_LINES = 500_000;
/** The next step after F218. */
const OTHER_ENCODING = 'if it is text, send its `encoding`';

export interface WindowRequest {
  /** Counted from 1. */
  startLine: number;
  /** Inclusive. */
  endLine: number;
  encoding: Encoding;
}

export interface TextWindow {
  content: string;
  start_line: number;
  end_line: number;
  total_lines?: number;
  truncated?: true;
  last_line_cut?: true;
}

interface Scope {
  readonly signal: AbortSignal;
}

/** The bytes that are searched for lines, and the whole content if it was read. */
export interface OpenText {
  source: ByteSource;
  index: LineIndex;
  /** Encoding of the source. */
  encoding: Parameters<typeof decodeText>[1];
  whole?: Buffer;
}

/** Lines of encodings such as UTF-16 are found in the UTF-8 form: a newline byte may be part of another character. */
export async function openText(
  file: JailFile,
  encoding: Encoding,
  { roots }: Pick<FilesystemContext, 'roots'>,
  scope: Scope,
): Promise<OpenText> {
  const isPlain = hasPlainLines(encoding);
  if (isPlain && file.size > SMALL_BYTES) return { source: file, index: roots.lineIndexes.of(file), encoding };

  const whole = await file.read();
  const index = new LineIndex();
  if (isPlain) return { source: bytesAsSource(whole), index, encoding, whole };

  const text = await decodeWhole(whole, encoding, scope);
  if (text === undefined)
    throw errors.fail('F218', { path: `/${file.relativePath}`, encoding, advice: OTHER_ENCODING });
  return { source: bytesAsSource(Buffer.from(text)), index, encoding: 'utf-8', whole };
}

/** Throws F218 for lines that are not text, and F222 for lines that do not exist. */
export async function showWindow(
  path: string,
  { source, index, encoding }: OpenText,
  request: WindowRequest,
  scope: Scope,
): Promise<TextWindow> {
  const { startLine, endLine } = request;
  const start = endLine < startLine ? undefined : await index.startOf(startLine, source, scope);
  if (start === undefined) throw await noSuchLines(path, request, index.countLines(source, scope));

  const asked = endLine - startLine + 1;
  const limits = { start, lines: Math.min(asked, MAX_CONTENT_LINES), maxBytes: MAX_CONTENT_BYTES };
  const { bytes, newlines } = await readLines(source, limits, scope);
  const isEnd = start + bytes.length >= source.size;
  const isOpen = bytes.length > 0 && !endsWithNewline(bytes);
  const { shown, isCut } = isOpen && !isEnd ? wholeLines(bytes) : { shown: bytes, isCut: false };
  const lines = newlines + (isCut || (isOpen && isEnd) ? 1 : 0);

  const text = decodeText(shown, encoding);
  if (text === undefined) throw errors.fail('F218', { path, encoding: request.encoding, advice: OTHER_ENCODING });
  const isShort = isCut || (lines < asked && start + shown.length < source.size);
  const totalLines = await totalOf(index, source, scope);
  return {
    content: numberLines(text, startLine),
    start_line: startLine,
    end_line: startLine + lines - 1,
    ...(totalLines !== undefined && { total_lines: totalLines }),
    ...(isShort && { truncated: true }),
    ...(isCut && { last_line_cut: true }),
  };
}

/** Drops an incomplete last line; a single line is cut after the last whole character that fits. */
function wholeLines(bytes: Buffer): { shown: Buffer; isCut: boolean } {
  const end = lineStart(bytes, bytes.length - 1);
  if (end > 0) return { shown: bytes.subarray(0, end), isCut: false };

  return { shown: bytes.subarray(0, wholeCharacters(bytes)), isCut: true };
}

async function totalOf(index: LineIndex, source: ByteSource, scope: Scope): Promise<number | undefined> {
  if (index.totalLines !== undefined || source.size > COUNTED_BYTES) return index.totalLines;
  return index.countLines(source, scope);
}

async function noSuchLines(path: string, { startLine, endLine }: WindowRequest, counting: Promise<number>) {
  const totalLines = await counting;
  const what = endLine < startLine ? `start_line ${startLine} is after end_line ${endLine}` : `no line ${startLine}`;
  return errors.fail('F222', { problem: `${what}: ${path} has ${totalLines} lines`, totalLines });
}

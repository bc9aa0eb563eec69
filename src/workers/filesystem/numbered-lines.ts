/** Lines with their numbers: right-aligned, then `│`, so that a reader can cite a line and still see the indentation. */
import { chomp, countLines, lineEnd, linesAround, type ByteRange } from '#host';

const LEAST_WIDTH = 6;

const CONTEXT_LINES = 2;
const MAX_PLACES = 5;
const MAX_PLACE_LINES = 60;
const MAX_LINE_CHARS = 1000;
/** Longest line in bytes: a UTF-16 unit takes at most three in UTF-8. */
const MAX_LINE_BYTES = 3 * MAX_LINE_CHARS + 1;

/** Between two previews, and for omitted lines. */
const GAP = '...\n';

/** The text with line numbers, starting at `first`. */
export function numberLines(text: string, first: number): string {
  if (text === '') return '';
  const lines = text.split('\n');
  const isEnded = lines.at(-1) === '';
  if (isEnded) lines.pop();
  const width = Math.max(LEAST_WIDTH, String(first + lines.length - 1).length);
  const numbered = lines.map((line, at) => `${String(first + at).padStart(width)}│${line}`);
  return numbered.join('\n') + (isEnded ? '\n' : '');
}

/** The lines around some ranges of a text, from the top; adjacent ranges are merged. */
export function previewSpans(text: Buffer, spans: readonly ByteRange[]): string {
  const shown: ByteRange[] = [];
  let knownUntil = 0;
  for (const span of spans) {
    // Each line is examined once, however many ranges it has.
    if (span.start < knownUntil && span.end <= knownUntil) continue;
    knownUntil = lineEnd(text, Math.max(span.start, span.end - 1));
    const around = linesAround(text, span, CONTEXT_LINES);
    const last = shown.at(-1);
    if (last && around.start <= last.end) last.end = Math.max(last.end, around.end);
    else if (shown.length < MAX_PLACES) shown.push(around);
    else break;
  }
  return shown.map((range) => previewLines(text, range)).join(GAP);
}

function previewLines(text: Buffer, { start, end }: ByteRange): string {
  const some: string[] = [];
  let at = start;
  do {
    const next = Math.min(lineEnd(text, at), end);
    const line = chomp(text.subarray(at, next)).subarray(0, MAX_LINE_BYTES);
    some.push(line.toString().slice(0, MAX_LINE_CHARS));
    at = next;
  } while (at < end && some.length < MAX_PLACE_LINES);
  const rest = at < end ? GAP : '';
  return numberLines(`${some.join('\n')}\n`, countLines(text.subarray(0, start)) + 1) + rest;
}

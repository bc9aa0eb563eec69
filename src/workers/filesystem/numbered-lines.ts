/** Lines with their numbers: right-aligned, then `│`, so that a reader can tell a place and still see the indentation. */
import { chomp, countLines, lineEnd, linesAround, type ByteRange } from '#host';

const LEAST_WIDTH = 6;

const CONTEXT_LINES = 2;
const MAX_PLACES = 5;
const MAX_PLACE_LINES = 60;
const MAX_LINE_CHARS = 1000;
/** No character takes more for each unit of its string. */
const MAX_LINE_BYTES = 3 * MAX_LINE_CHARS + 1;

/** What stands between two places, and for lines that are left out. */
const GAP = '...\n';

/** The text with the numbers of its lines, the first of which is given. */
export function numberLines(text: string, first: number): string {
  if (text === '') return '';
  const lines = text.split('\n');
  const isEnded = lines.at(-1) === '';
  if (isEnded) lines.pop();
  const width = Math.max(LEAST_WIDTH, String(first + lines.length - 1).length);
  const numbered = lines.map((line, at) => `${String(first + at).padStart(width)}│${line}`);
  return numbered.join('\n') + (isEnded ? '\n' : '');
}

/** The lines around some places of a text, from the top; places that touch are shown as one. */
export function previewPlaces(text: Buffer, places: readonly ByteRange[]): string {
  const shown: ByteRange[] = [];
  let knownUntil = 0;
  for (const place of places) {
    // Each line is looked at once, however many places it has.
    if (place.start < knownUntil && place.end <= knownUntil) continue;
    knownUntil = lineEnd(text, Math.max(place.start, place.end - 1));
    const around = linesAround(text, place, CONTEXT_LINES);
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

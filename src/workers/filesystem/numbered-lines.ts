/** Lines with their numbers: right-aligned, then `│`, so that a reader can tell a place and still see the indentation. */
import { chomp, countLines, linesAround, type ByteRange } from '#host';

const LEAST_WIDTH = 6;

const CONTEXT_LINES = 2;
const MAX_PLACES = 5;
const MAX_PLACE_LINES = 60;
const MAX_LINE_CHARS = 1000;

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
  for (const place of places) {
    const around = linesAround(text, place, CONTEXT_LINES);
    const last = shown.at(-1);
    if (last && around.start <= last.end) last.end = Math.max(last.end, around.end);
    else if (shown.length < MAX_PLACES) shown.push(around);
    else break;
  }
  return shown.map((range) => previewLines(text, range)).join(GAP);
}

function previewLines(text: Buffer, { start, end }: ByteRange): string {
  const lines = chomp(text.subarray(start, end)).toString().split(/\r?\n/);
  const some = lines.slice(0, MAX_PLACE_LINES).map((line) => line.slice(0, MAX_LINE_CHARS));
  const rest = lines.length > some.length ? GAP : '';
  return numberLines(`${some.join('\n')}\n`, countLines(text.subarray(0, start)) + 1) + rest;
}

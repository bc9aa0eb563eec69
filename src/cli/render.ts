/** Text for terminals. Programs ask for `--json`. */
import { colourOfState, type Paint } from './colour.ts';

/** Columns of a terminal that does not report its width, and of every help text. */
export const PAGE_COLUMNS = 80;

export interface Table {
  head: string[];
  rows: string[][];
}

export interface TableLook {
  /**
   * Most columns of a line; a longer cell continues in the next line. Unlimited by default: a pipe gets whole cells.
   */
  width?: number;
  paint?: Paint;
}

const GAP = '  ';
/** Narrowest column of words, and of anything else. */
const LEAST_PROSE = 16;
const LEAST = 6;

const plain: Paint = (_, text) => text;

export function table(head: string[], rows: string[][], { width = Infinity, paint = plain }: TableLook = {}): string {
  const all = [head, ...rows].map((row) => row.map(visible));
  const widths = fitted(all, width);
  const lines = all.flatMap((row, at) => {
    const cells = row.map((cell, column) => wrapped(cell, widths[column]!));
    const height = Math.max(...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, column) =>
          padded(cell[line] ?? '', widths[column]!, at === 0 ? headPaint(paint) : statePaint(paint)),
        )
        .join(GAP)
        .trimEnd(),
    );
  });
  return `${lines.join('\n')}\n`;
}

/** `left` and its explanation beside it, in lines of at most 80 columns. */
export function definitions(rows: readonly (readonly [left: string, says: string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  const room = PAGE_COLUMNS - width - 2 * GAP.length;
  return rows.flatMap(([left, says]) =>
    wrapped(says, room).map((line, at) => `${GAP}${(at === 0 ? left : '').padEnd(width)}${GAP}${line}`.trimEnd()),
  );
}

/** Text in lines of at most 80 columns; only an empty line ends a paragraph. */
export function paragraphs(text: string): string[] {
  const wrappedOnes = text.split('\n\n').map((one) => wrapped(one.replaceAll('\n', ' '), PAGE_COLUMNS).join('\n'));
  return wrappedOnes.join('\n\n').split('\n');
}

/** One line without control characters: peers choose their names and texts, and a terminal obeys control characters. */
export function visible(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
}

/** Time since then, in the largest whole unit: `35s`, `12m`, `3h`, `4d`. */
export function duration(ms: number): string {
  const secs = Math.max(0, Math.floor(ms / 1000));
  if (secs < 120) return `${secs}s`;
  if (secs < 7200) return `${Math.floor(secs / 60)}m`;
  return secs < 172_800 ? `${Math.floor(secs / 3600)}h` : `${Math.floor(secs / 86_400)}d`;
}

/** Widths that fit: columns of words shrink first, then all others. */
function fitted(all: string[][], width: number): number[] {
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const isProse = widths.map((_, column) => all.some((row) => row[column]?.includes(' ')));
  const isTooWide = () => widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length) > width;
  const shrink = (least: number, mayShrink: (column: number) => boolean) => {
    while (isTooWide()) {
      const open = widths.flatMap((one, column) => (mayShrink(column) && one > least ? [column] : []));
      if (open.length === 0) return;
      const widest = open.reduce((a, b) => (widths[b]! > widths[a]! ? b : a));
      widths[widest]!--;
    }
  };
  shrink(LEAST_PROSE, (column) => isProse[column]!);
  shrink(LEAST, () => true);
  return widths;
}

/** At least one line. Breaks at blanks, and inside a word only if it is longer than a line. */
function wrapped(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    for (; line.length > width; line = line.slice(width)) lines.push(line.slice(0, width));
  }
  return [...lines, line];
}

function padded(text: string, width: number, paint: (text: string) => string): string {
  return paint(text) + ' '.repeat(Math.max(0, width - text.length));
}

function headPaint(paint: Paint) {
  return (text: string) => paint('bold', text);
}

function statePaint(paint: Paint) {
  return (text: string) => paint(colourOfState(text), text);
}

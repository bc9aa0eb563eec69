/** Line diff of two texts by their longest common subsequence. */
import type { ChangeHunk } from '#protocol';

/** Above this many pairs of lines, everything between the first and the last difference counts as changed. */
const MAX_PAIRS = 1_000_000;

/** Unchanged lines shown before and after a change. */
const CONTEXT_LINES = 3;

const MAX_LINES = 400;
const MAX_LINE_CHARS = 400;

/** A line of a diff: its sign, then its text. */
export type Signed = `${' ' | '+' | '-'}${string}`;

/** Hunks of at most `MAX_LINES` lines in all; `isCut` if lines were left out or shortened. */
export function hunksOf(before: string, after: string): { hunks: ChangeHunk[]; isCut: boolean } {
  const hunks = groupLines(diffLines(linesOf(before), linesOf(after)));
  let left = MAX_LINES;
  let isCut = false;
  const kept: ChangeHunk[] = [];
  for (const hunk of hunks) {
    if (left === 0) return { hunks: kept, isCut: true };
    const lines = hunk.lines.slice(0, left).map((line) => line.slice(0, MAX_LINE_CHARS));
    isCut ||= lines.length < hunk.lines.length || hunk.lines.some((line) => line.length > MAX_LINE_CHARS);
    left -= lines.length;
    kept.push({ ...hunk, lines });
  }
  return { hunks: kept, isCut };
}

/** Splits a text into lines; a newline at its end does not add one. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** Diffs two lists of lines, with or without line endings. */
export function diffLines(before: string[], after: string[]): Signed[] {
  const head = commonHead(before, after);
  const tail = commonHead(before.slice(head).toReversed(), after.slice(head).toReversed());
  return [
    ...after.slice(0, head).map(same),
    ...diffMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...after.slice(after.length - tail).map(same),
  ];
}

function commonHead(a: string[], b: string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

function diffMiddle(before: string[], after: string[]): Signed[] {
  if (before.length * after.length > MAX_PAIRS) return [...before.map(taken), ...after.map(put)];

  const lengths = commonLengths(before, after);
  const lines: Signed[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push(same(after[j]!));
      [i, j] = [i + 1, j + 1];
    } else if (i < before.length && (j === after.length || lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) {
      lines.push(taken(before[i++]!));
    } else {
      lines.push(put(after[j++]!));
    }
  }
  return lines;
}

/** `lengths[i][j]`: length of the longest common subsequence of `before` from line i and `after` from line j. */
function commonLengths(before: string[], after: string[]): Uint32Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const [row, below] = [lengths[i]!, lengths[i + 1]!];
    for (let j = after.length - 1; j >= 0; j -= 1) {
      row[j] = before[i] === after[j] ? below[j + 1]! + 1 : Math.max(below[j]!, row[j + 1]!);
    }
  }
  return lengths;
}

/** Groups changed lines with their context into hunks; drops the other lines. */
function groupLines(lines: readonly Signed[]): ChangeHunk[] {
  const hunks: ChangeHunk[] = [];
  let [beforeLine, afterLine] = [1, 1];
  let lastChange = -Infinity;
  let open: ChangeHunk | undefined;
  for (const [at, line] of lines.entries()) {
    const isChange = !line.startsWith(' ');
    if (isChange) lastChange = at;
    const isNear = at - lastChange <= CONTEXT_LINES || hasChange(lines, at + 1, at + CONTEXT_LINES + 1);
    if (!isNear) open = undefined;
    else if (open) open.lines.push(line);
    else hunks.push((open = { before_line: beforeLine, after_line: afterLine, lines: [line] }));
    if (!line.startsWith('+')) beforeLine++;
    if (!line.startsWith('-')) afterLine++;
  }
  return hunks;
}

function hasChange(lines: readonly Signed[], from: number, until: number): boolean {
  for (let at = from; at < until && at < lines.length; at++) if (!lines[at]!.startsWith(' ')) return true;
  return false;
}

function same(text: string): Signed {
  return ` ${text}`;
}

function taken(text: string): Signed {
  return `-${text}`;
}

function put(text: string): Signed {
  return `+${text}`;
}

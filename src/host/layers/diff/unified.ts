/** A unified diff of two texts. */
import { diffLines, type Signed } from '../../changes/line-hunks.ts';

interface UnifiedOptions {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly contextLines: number;
}

const NO_NEWLINE = '\\ No newline at end of file';

/** Empty if the texts are equal. `from` and `to` are the paths in the header; undefined for `/dev/null`. */
export function unifiedDiff(before: string, after: string, { from, to, contextLines }: UnifiedOptions): string {
  if (before === after) return '';
  const lines = diffLines(linesOf(before), linesOf(after));
  const head = [
    `--- ${from === undefined ? '/dev/null' : `a/${from}`}`,
    `+++ ${to === undefined ? '/dev/null' : `b/${to}`}`,
  ];
  return [...head, ...hunks(lines, contextLines)].join('\n') + '\n';
}

/** Each line keeps its ending, so that a missing newline at the end is a difference. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function hunks(lines: readonly Signed[], context: number): string[] {
  const shown: string[] = [];
  let [before, after, at] = [1, 1, 0];
  for (const [start, end] of rangesOf(lines, context)) {
    for (; at < start; at++) [before, after] = next(lines[at]!, before, after);
    const hunk = lines.slice(start, end);
    const [minus, plus] = [countOf(hunk, '+'), countOf(hunk, '-')];
    shown.push(`@@ -${spot(before, minus)} +${spot(after, plus)} @@`);
    for (const line of hunk) shown.push(...printed(line));
  }
  return shown;
}

/** Ranges of lines around changes; those that touch are joined. */
function rangesOf(lines: readonly Signed[], context: number): [number, number][] {
  const ranges: [number, number][] = [];
  for (const [at, line] of lines.entries()) {
    if (line.startsWith(' ')) continue;
    const last = ranges.at(-1);
    const end = Math.min(lines.length, at + context + 1);
    if (last && at - context <= last[1]) last[1] = end;
    else ranges.push([Math.max(0, at - context), end]);
  }
  return ranges;
}

function next(line: Signed, before: number, after: number): [number, number] {
  return [before + (line.startsWith('+') ? 0 : 1), after + (line.startsWith('-') ? 0 : 1)];
}

/** Lines of one side: all but those of the other sign. */
function countOf(hunk: readonly Signed[], other: '+' | '-'): number {
  return hunk.filter((line) => !line.startsWith(other)).length;
}

/** An empty side names the line before it. */
function spot(line: number, count: number): string {
  return count === 1 ? `${line}` : `${count === 0 ? line - 1 : line},${count}`;
}

function printed(line: Signed): string[] {
  return line.endsWith('\n') ? [line.slice(0, -1)] : [line, NO_NEWLINE];
}

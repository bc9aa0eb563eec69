/**
 * Three-way merge of one text by lines.
 *
 * Changes of the same or of adjacent lines are a conflict, as in git. The same change on both sides is applied once.
 */
import { diffLines } from '../../changes/line-hunks.ts';

/** Lines `start` to `end` (exclusive) of the base, replaced by `lines`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Undefined on a conflict. */
export function merge3(base: string, mine: string, theirs: string): string | undefined {
  const lines = linesOf(base);
  const edits = [...editsOf(lines, linesOf(mine)), ...editsOf(lines, linesOf(theirs))].sort(
    (a, b) => a.start - b.start || a.end - b.end,
  );
  const merged: string[] = [];
  let at = 0;
  let last: Edit | undefined;
  for (const edit of edits) {
    if (last && isSameEdit(last, edit)) continue;
    if (last && edit.start <= last.end) return undefined;
    merged.push(...lines.slice(at, edit.start), ...edit.lines);
    at = edit.end;
    last = edit;
  }
  return [...merged, ...lines.slice(at)].join('');
}

/** Each line keeps its ending, so that the joined lines are the text. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

export function editsOf(base: string[], other: string[]): Edit[] {
  const edits: Edit[] = [];
  let at = 0;
  let open: { start: number; end: number; lines: string[] } | undefined;
  for (const signed of diffLines(base, other)) {
    const sign = signed[0];
    if (sign === ' ') {
      open = undefined;
      at++;
      continue;
    }
    if (!open) edits.push((open = { start: at, end: at, lines: [] }));
    if (sign === '+') open.lines.push(signed.slice(1));
    else open.end = ++at;
  }
  return edits;
}

export function isSameEdit(a: Edit, b: Edit): boolean {
  return a.start === b.start && a.end === b.end && a.lines.join('') === b.lines.join('');
}

/**
 * Three-way merge of one text by lines.
 *
 * Changes of the same or of adjacent lines are a conflict, as in git. The same change on both sides is applied once. Where a
 * text repeats the same few lines, a diff can be read in several ways, and a few merges in a thousand are others than git's.
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

/**
 * Among equal lines an edit is moved as far down as it can be, as in git: else the same insertion on both sides could have two
 * places, and be applied twice.
 */
export function editsOf(base: string[], other: string[]): Edit[] {
  const moved: Edit[] = [];
  for (const edit of diffEdits(base, other).toReversed()) {
    let lowest = movedDown(base, edit, moved.at(-1)?.start);
    while (lowest.end === moved.at(-1)?.start) {
      const { end, lines } = moved.pop()!;
      lowest = movedDown(base, { start: lowest.start, end, lines: [...lowest.lines, ...lines] }, moved.at(-1)?.start);
    }
    moved.push(lowest);
  }
  return moved.toReversed();
}

/** An edit that replaces lines stays; any other moves down, up to the next edit. */
function movedDown(base: string[], { start, end, lines }: Edit, limit: number = base.length): Edit {
  if (start === end) {
    let at = start;
    while (at < limit && base[at] === lines[(at - start) % lines.length]) at++;
    const turned = (at - start) % lines.length;
    return { start: at, end: at, lines: [...lines.slice(turned), ...lines.slice(0, turned)] };
  }
  if (lines.length > 0) return { start, end, lines };
  let at = 0;
  while (end + at < limit && base[end + at] === base[start + at]) at++;
  return { start: start + at, end: end + at, lines };
}

function diffEdits(base: string[], other: string[]): Edit[] {
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

/** The first lines that two sides changed differently, with the markers of git. */
import { editsOf, isSameEdit, linesOf, type Edit } from '../../journal/undo/merge3.ts';

const MAX_CHARS = 4096;

/** Undefined if the sides can be merged. */
export function conflictHunk(base: string, mine: string, theirs: string): string | undefined {
  const lines = linesOf(base);
  const [left, right] = [editsOf(lines, linesOf(mine)), editsOf(lines, linesOf(theirs))];
  const first = left.find((edit) => right.some((other) => meets(edit, other) && !isSameEdit(edit, other)));
  if (!first) return undefined;

  let { start, end } = first;
  // Each edit that touches the range makes it longer, and may make it touch another.
  for (let before = -1; before !== end - start;) {
    before = end - start;
    for (const edit of [...left, ...right]) {
      if (!meets(edit, { start, end })) continue;
      [start, end] = [Math.min(start, edit.start), Math.max(end, edit.end)];
    }
  }
  const side = (edits: readonly Edit[]) => applied(lines, edits, { start, end });
  const text = [
    ['<<<<<<< mine\n', ...side(left)],
    ['||||||| base\n', ...lines.slice(start, end)],
    ['=======\n', ...side(right)],
    ['>>>>>>> theirs\n'],
  ];
  const hunk = text.map((part) => part.map((line) => (line.endsWith('\n') ? line : `${line}\n`)).join('')).join('');
  return hunk.length > MAX_CHARS ? `${hunk.slice(0, MAX_CHARS - 2)}…\n` : hunk;
}

/** Whether two ranges overlap or touch. */
function meets(a: Pick<Edit, 'start' | 'end'>, b: Pick<Edit, 'start' | 'end'>): boolean {
  return a.start <= b.end && b.start <= a.end;
}

/** The lines of a range with one side's edits. */
function applied(lines: string[], edits: readonly Edit[], { start, end }: { start: number; end: number }): string[] {
  const made: string[] = [];
  let at = start;
  for (const edit of edits) {
    if (edit.start < start || edit.end > end) continue;
    made.push(...lines.slice(at, edit.start), ...edit.lines);
    at = edit.end;
  }
  return [...made, ...lines.slice(at, end)];
}

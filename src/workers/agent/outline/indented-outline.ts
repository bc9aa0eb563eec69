/** The outline of a text without a grammar: headings, or lines with more indented lines below them. */

/** Levels of indentation that are shown. */
const MAX_LEVELS = 2;
/** Lines that begin a block but define nothing. */
const CONTROL =
  /^\s*(?:if|else|elif|for|while|switch|case|try|catch|except|finally|do|with|return|then|end)\b|^\s*[)\]}]/;

/** Line numbers of headings, from 1. */
export function headingLines(lines: readonly string[]): number[] {
  let isCode = false;
  return lines.flatMap((line, i) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    return !isCode && /^#{1,6}\s/.test(line) ? [i + 1] : [];
  });
}

/** A line begins a block if the next line that is not empty is indented deeper. */
export function indentedLines(lines: readonly string[]): number[] {
  const filled = lines.map((line, i) => ({ line, number: i + 1 })).filter(({ line }) => line.trim() !== '');
  const open: number[] = [];
  return filled.flatMap(({ line, number }, i) => {
    const indent = indentOf(line);
    while (open.length > 0 && open.at(-1)! >= indent) open.pop();
    const next = filled[i + 1];
    if (!next || indentOf(next.line) <= indent) return [];
    open.push(indent);
    return open.length <= MAX_LEVELS && !CONTROL.test(line) ? [number] : [];
  });
}

function indentOf(line: string): number {
  return /^\s*/.exec(line)![0].replaceAll('\t', '    ').length;
}

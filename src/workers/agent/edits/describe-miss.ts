/** Describes why a text is not in a file, with the lines that resemble it most. */
import type { CallScope } from '#contract';
import { closestLines } from '#host';
import { clipLine, linesOf, numbered } from '../text-lines.ts';
import type { EditedFile } from './edited-files.ts';

/** Most lines shown, and most characters of each. */
const MOST_LINES = 12;
const LINE_CHARS = 300;

export async function describeMiss(file: EditedFile, old: string, scope: Pick<CallScope, 'signal'>): Promise<string> {
  const wanted = linesOf(old);
  const bare = wanted.map((line) => line.replace(/^\s*\d+\t/, ''));
  if (wanted.every((line, i) => line !== bare[i]) && file.text.includes(bare.join('\n'))) {
    return `${file.path}: old begins its lines with line numbers; leave the numbers and the tab out`;
  }
  const lines = linesOf(file.text);
  const [best] = await closestLines(file.text, old, scope);
  if (!best) return `${file.path}: the text is not there, nor anything like it (${lines.length} lines)`;

  const anchor = wanted.reduce((at, line, i) => (line.trim().length > wanted[at]!.trim().length ? i : at), 0);
  const first = Math.max(1, best.line - Math.min(anchor, MOST_LINES - 1));
  const last = Math.min(lines.length, first + Math.min(wanted.length, MOST_LINES) - 1);
  const shown = lines.slice(first - 1, last).map((line) => clipLine(line, LINE_CHARS));
  return `${file.path}: the text is not there. Nearest:\n${numbered(shown, first)}`;
}

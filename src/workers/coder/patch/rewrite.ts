/** Rewrites a chunk that differs from the file only in whitespace, so that it matches. */
import type { PatchLines, SignedLine } from './patch.ts';
import { Indentation } from './reindent.ts';
import type { Source } from './source.ts';

export function onlySpacesDiffer(source: Source, lines: readonly string[], at: number): boolean {
  if (at < 0 || at + lines.length > source.length) return false;
  return lines.every((line, i) => withoutSpaces(line) === withoutSpaces(source.line(at + i)));
}

/** Returns the corrected lines by their index in the patch. */
export function rewriteLines(source: Source, signed: readonly SignedLine[], at: number): Map<number, string> {
  const indentation = Indentation.between(signed, source, at);
  const lines = new Map<number, string>();
  let line = at;
  for (const [i, { sign, text, index }] of signed.entries()) {
    lines.set(index, sign + (sign === '+' ? indentation.fit(text, i) : source.line(line++)));
  }
  return lines;
}

export function rewritePatch(lines: PatchLines, rewritten: readonly ReadonlyMap<number, string>[]): string {
  const all = new Map(rewritten.flatMap((map) => [...map]));
  return `${lines.map((line, i) => all.get(i) ?? line).join('\n')}\n`;
}

function withoutSpaces(line: string): string {
  return line.replaceAll(/\s+/g, '');
}

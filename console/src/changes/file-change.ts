/** One file that a call changed, as it is shown. */
import type { DiffLine } from './line-diff.ts';

export interface FileChange {
  path: string;
  did: 'created' | 'written' | 'edited' | 'deleted' | 'moved' | 'copied' | 'asked for';
  hunks: Hunk[];
  /** What the lines do not say, such as where it went. */
  note?: string;
  /** Why the file stayed as it was. */
  failure?: string;
}

export interface Hunk {
  /** What made it, where that is more than the lines say. */
  title?: string;
  lines: DiffLine[];
}

export function added(lines: string[], first = 1): DiffLine[] {
  return lines.map((text, at) => ({ sign: '+', text, number: first + at }));
}

/** On one line, whatever was replaced. */
export function substitutionTitle(what: string, replacement: string): string {
  return `${what} → ${replacement === '' ? 'nothing' : replacement}`.replaceAll('\n', '↵');
}

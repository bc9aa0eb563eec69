/** What is asked of a regex thread, and what it answers: one task, one outcome. */
import type { RegexOptions } from './compile-regex.ts';
import type { LineMatch } from './find-lines.ts';
import type { Span } from './regex.ts';
import type { Place } from './replaced-places.ts';

export interface FindTask extends RegexOptions {
  readonly pattern: string;
  /** Valid UTF-8. */
  readonly text: Uint8Array;
}

export interface LinesTask extends FindTask {
  /** How many lines are told. */
  readonly limit: number;
}

export interface ReplaceTask extends FindTask {
  /** With references to groups; see `parseReplacement`. */
  readonly replacement: string;
  /** What is searched as one text: all of it unless said otherwise, or each line without its ending. */
  readonly unit?: 'text' | 'line';
  /** How many matches of each unit are replaced; all when left out. */
  readonly limit?: number;
  /** What the text may grow to; without it 64 MiB where the unit is the line. */
  readonly maxBytes?: number;
  /** Of how many replacements the places are told, where the unit is the text; of none when left out. */
  readonly maxPlaces?: number;
}

export type ToThread =
  | ({ kind: 'find' } & FindTask)
  | ({ kind: 'lines' } & LinesTask)
  | ({ kind: 'replace' } & ReplaceTask);

export type FromThread =
  | { kind: 'found'; match: Span | undefined }
  | { kind: 'lines'; lines: LineMatch[] }
  /** Nothing was replaced when there are no bytes. */
  | { kind: 'replaced'; bytes: Uint8Array | undefined; count: number; places: Place[] }
  | { kind: 'bad-regex'; pattern: string; reason: string }
  | { kind: 'bad-replacement'; reference: string; pattern: string; hint: string }
  | { kind: 'too-large'; maxBytes: number }
  | { kind: 'broken'; stack: string };

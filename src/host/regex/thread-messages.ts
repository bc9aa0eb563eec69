/** Messages to and from a regex thread: one task, one outcome. */
import type { RegexOptions } from './compile-regex.ts';
import type { LineMatch } from './find-lines.ts';
import type { Span } from './regex.ts';
import type { ReplacedSpan } from './replaced-spans.ts';

export interface FindTask extends RegexOptions {
  readonly pattern: string;
  /** Valid UTF-8. */
  readonly text: Uint8Array;
}

export interface LinesTask extends FindTask {
  /** Most lines returned. */
  readonly limit: number;
}

export interface ReplaceTask extends FindTask {
  /** Text with references to groups; see `parseReplacement`. */
  readonly replacement: string;
  /** The unit that is searched: the whole text (default), or each line without its ending. */
  readonly unit?: 'text' | 'line';
  /** Most replacements per unit; all when absent. */
  readonly limit?: number;
  /** Size limit of the result; 64 MiB when absent and the unit is the line. */
  readonly maxBytes?: number;
  /** How many replacements are returned with their offsets, for the unit text; none when absent. */
  readonly maxSpans?: number;
}

export type ToThread =
  | ({ kind: 'find' } & FindTask)
  | ({ kind: 'lines' } & LinesTask)
  | ({ kind: 'replace' } & ReplaceTask);

export type FromThread =
  | { kind: 'found'; match: Span | undefined }
  | { kind: 'lines'; lines: LineMatch[] }
  /** No bytes if nothing was replaced. */
  | { kind: 'replaced'; bytes: Uint8Array | undefined; count: number; spans: ReplacedSpan[] }
  | { kind: 'bad-regex'; pattern: string; reason: string }
  | { kind: 'bad-replacement'; reference: string; pattern: string; hint: string }
  | { kind: 'too-large'; maxBytes: number }
  | { kind: 'broken'; stack: string };

/**
 * The reason why a pattern, a search or a replacement was refused, in one line.
 *
 * The crate draws its errors: the pattern, carets below the position, and the reason. The drawing is parsed back into a
 * position, counted in characters.
 */

/** Length at which messages clip a pattern. */
const SHOWN_CHARS = 80;

export class RegexError extends Error {
  override readonly name = 'RegexError';
  readonly pattern: string;
  readonly reason: string;

  constructor(pattern: string, reason: string) {
    super(`regex ${show(pattern)}: ${reason}`);
    this.pattern = pattern;
    this.reason = reason;
  }
}

/** A replacement that refers to a group that the pattern does not have. */
export class ReplacementError extends Error {
  override readonly name = 'ReplacementError';
  /** Text of the reference, with its dollar sign. */
  readonly reference: string;
  readonly pattern: string;
  /** Text to write instead. */
  readonly hint: string;

  constructor(reference: string, pattern: string, hint: string) {
    super(`${reference} names no group of the regex ${show(pattern)}; ${hint}`);
    this.reference = reference;
    this.pattern = pattern;
    this.hint = hint;
  }
}

/** Replacements would make the text larger than allowed. */
export class ReplacedSizeError extends Error {
  override readonly name = 'ReplacedSizeError';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`with its replacements the text is larger than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

function show(pattern: string): string {
  return JSON.stringify(pattern.length > SHOWN_CHARS ? `${pattern.slice(0, SHOWN_CHARS)}…` : pattern);
}

/** The reason in the crate's words, and the position in the pattern without the flags put before it. */
export function readRustError(text: string, flags: string): string {
  const tooBig = text.match(/^Compiled regex exceeds size limit of (\d+) bytes/);
  if (tooBig) return `compiles to more than ${tooBig[1]} bytes`;

  const lines = text.split('\n');
  const reason = lines.at(-1)!.replace(/^error: /, '');
  const noteIndex = lines.findLastIndex((line) => /^ *\^[ ^]*$/.test(line));
  const range = text.match(/\non line (\d+) \(column (\d+)\)/);
  if (noteIndex < 0 && !range) return reason;

  const isNumbered = lines[1]!.startsWith('~');
  if (range) return `${reason} ${positionText(Number(range[1]), Number(range[2]), isNumbered, flags)}`;

  // With two positions, as for a duplicate name, the last is the wrong one.
  const note = lines[noteIndex]!;
  const caret = note.match(/\^+$/)!.index!;
  const margin = isNumbered ? lines[noteIndex - 1]!.indexOf(': ') + 2 : MARGIN;
  const line = isNumbered ? Number.parseInt(lines[noteIndex - 1]!, 10) : 1;
  return `${reason} ${positionText(line, caret - margin + 1, isNumbered, flags)}`;
}

/** Margin before the pattern and its carets, when there are no line numbers. */
const MARGIN = 4;

function positionText(line: number, column: number, isNumbered: boolean, flags: string): string {
  const character = line === 1 ? column - flags.length : column;
  return isNumbered ? `at line ${line}, character ${character}` : `at character ${character}`;
}

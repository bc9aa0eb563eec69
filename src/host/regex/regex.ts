/**
 * A regex of the Rust crate over bytes: its syntax, its semantics, and a search that is linear in the haystack.
 *
 * Haystacks must be valid UTF-8; the caller converts others, because offsets refer to the searched bytes. Each call
 * copies its haystack into WebAssembly memory of at most 1 GiB: 300 MB can be rewritten, 900 MB searched; beyond that
 * it throws `RegexError`. Linear is not fast: a compiled pattern of megabytes, such as \w{200}x, can take microseconds
 * per byte, and iterating all matches is quadratic when each search reads on to the end, as .*[^A-Z]|[A-Z] does.
 */
import { isUtf8 } from 'node:buffer';

import { Engine } from './engine.ts';
import { findLines, type LineMatch, type LineSearch } from './find-lines.ts';
import { RustError } from './glue.ts';
import { readHir } from './hir.ts';
import { lineFormOf, type LineForm } from './line-form.ts';
import { excessOf, isWorthAnalysing } from './pattern-limits.ts';
import { readRustError, RegexError, ReplacedSizeError } from './regex-error.ts';
import { takeMarks, type Replaced, type Replacement } from './replacement.ts';
import { requiredStrings } from './required-literals.ts';
import { requiredRuns, type CharSet } from './required-runs.ts';

/** Byte offsets in the haystack. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Analysis {
  readonly lineForm?: LineForm;
  readonly literals?: readonly Uint8Array[];
  readonly runs?: readonly CharSet[][];
}

/** Below this size, a line-by-line search is cheaper than preparing the line form. */
const LINE_FORM_FROM_BYTES = 65_536;

export class Regex {
  readonly source: string;
  /** Names by group number; the whole match, 0, and unnamed groups have none. */
  readonly groupNames: readonly (string | undefined)[];
  readonly #pattern: string;
  readonly #engine: Engine;
  #analysis: Analysis | undefined;
  #lineSearch: LineSearch | undefined;
  #bytesSearchedByLine = 0;

  /** `flags` are written as in a pattern, such as `(?i)`. */
  constructor(source: string, flags: string) {
    this.source = source;
    this.#pattern = flags + source;
    this.#engine = compile(source, flags);
    this.groupNames = this.#engine.groupNames;
  }

  /** Memory that the compiled pattern takes. */
  get compiledBytes(): number {
    return this.#engine.compiledBytes;
  }

  isMatch(haystack: Uint8Array): boolean {
    return this.#engine.isMatch(haystack);
  }

  /** The leftmost match that begins at or after `from`, which must be a character boundary or the end. */
  find(haystack: Uint8Array, from = 0): Span | undefined {
    if (from > haystack.length) return undefined;

    // No assertion looks back further than one character, so the bytes before it are not copied.
    const context = from === 0 ? 0 : charStart(haystack, from - 1);
    const searched = context === 0 ? haystack : haystack.subarray(context);
    const [start, end] = this.#engine.findAt(searched, from - context);
    return start === undefined ? undefined : { start: context + start, end: context + end! };
  }

  /** The lines that match when each is searched alone, without its newline and one trailing carriage return. */
  findLines(haystack: Uint8Array, { limit = Infinity }: { limit?: number } = {}): LineMatch[] {
    this.#bytesSearchedByLine += haystack.length;
    return findLines(this.#chooseLineSearch(), haystack, limit);
  }

  /**
   * Replaces all matches, or the first `limit`; without a match, returns the haystack itself. Throws
   * `ReplacedSizeError` instead of making a copy larger than `maxBytes`.
   */
  replaceAll(
    haystack: Uint8Array,
    { template }: Replacement,
    { limit = Infinity, maxBytes = Infinity }: { limit?: number; maxBytes?: number } = {},
  ): Replaced {
    // Elsewhere invalid UTF-8 only fails to match; here its bytes would be lost silently.
    if (!isUtf8(haystack)) throw new RegexError(this.source, 'the text to replace in is not UTF-8');

    const none = { bytes: haystack, count: 0 };
    if (limit === 0) return none;
    const take = (marked: Buffer) => takeMarks(marked, maxBytes);
    const replaced = this.#engine.replace(haystack, template, limit === Infinity ? ALL : limit, take) ?? none;
    if (replaced === 'too-large') throw new ReplacedSizeError(maxBytes);
    return replaced;
  }

  /** See `requiredLiterals`. */
  get literals(): readonly Uint8Array[] | undefined {
    return this.#analyse().literals;
  }

  /** Every match contains all of these; see `requiredRuns`. */
  get runs(): readonly CharSet[][] {
    return this.#analyse().runs ?? [];
  }

  #chooseLineSearch(): LineSearch {
    const each: LineSearch = { kind: 'each', engine: this.#engine };
    if (this.#bytesSearchedByLine <= LINE_FORM_FROM_BYTES) return each;
    return (this.#lineSearch ??= searchBatches(this.#analyse().lineForm, this.source) ?? each);
  }

  #analyse(): Analysis {
    return (this.#analysis ??= isWorthAnalysing(this.#pattern) ? analyse(this.#engine) : {});
  }
}

/** The crate's value for no limit. */
const ALL = 0;

/** Byte strings of which every match contains at least one; undefined when none could be proven. */
export function requiredLiterals(regex: Regex): readonly Uint8Array[] | undefined {
  return regex.literals;
}

function compile(source: string, flags: string): Engine {
  const excess = excessOf(flags + source);
  if (excess) throw new RegexError(source, excess);
  try {
    return new Engine(flags + source, source);
  } catch (error) {
    if (!(error instanceof RustError)) throw error;
    throw new RegexError(source, readRustError(error.message, flags));
  }
}

function analyse(engine: Engine): Analysis {
  const hir = readHir(engine.syntax);
  return { lineForm: lineFormOf(hir), literals: requiredStrings(hir), runs: requiredRuns(hir) };
}

/** Undefined without a line form, or if it exceeds the crate's limits and the pattern does not. */
function searchBatches(lineForm: LineForm | undefined, source: string): LineSearch | undefined {
  if (!lineForm) return undefined;
  try {
    const engine = new Engine(lineForm.pattern, source);
    return { kind: 'batch', engine, isSlowBeyondAscii: lineForm.isSlowBeyondAscii };
  } catch (error) {
    if (error instanceof RustError) return undefined;
    throw error;
  }
}

function charStart(text: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && (text[start]! & 0xc0) === 0x80) start--;
  return start;
}

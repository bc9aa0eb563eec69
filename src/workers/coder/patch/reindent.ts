/**
 * Reindents the new lines of a chunk whose indentation differs from the file.
 *
 * The lines that the chunk and the file have in common show which indentation corresponds to which.
 */
import type { SignedLine } from './patch.ts';
import type { Source } from './source.ts';

/** Indentation of one line, in the chunk and in the file. */
interface Pair {
  /** Index in the chunk. */
  index: number;
  inChunk: string;
  inFile: string;
}

export class Indentation {
  readonly #pairs: readonly Pair[];
  /** The first pair for each indentation in the chunk. */
  readonly #first = new Map<string, Pair>();
  /** The last pair above the current line, for each indentation in the chunk. */
  readonly #above = new Map<string, Pair>();
  #next = 0;

  private constructor(pairs: readonly Pair[]) {
    this.#pairs = pairs;
    for (const pair of pairs) if (!this.#first.has(pair.inChunk)) this.#first.set(pair.inChunk, pair);
  }

  static between(signed: readonly SignedLine[], source: Source, at: number): Indentation {
    const pairs: Pair[] = [];
    let line = at;
    for (const [index, { sign, text }] of signed.entries()) {
      if (sign === '+') continue;
      if (text.trim() !== '') pairs.push({ index, inChunk: indentOf(text), inFile: indentOf(source.line(line)) });
      line++;
    }
    return new Indentation(pairs);
  }

  /** True if chunk and file differ in any indentation. */
  get isChanged(): boolean {
    return this.#pairs.some(({ inChunk, inFile }) => inChunk !== inFile);
  }

  /** Reindents a new line of the chunk. Must be called in the order of the lines. */
  fit(text: string, index: number): string {
    if (text.trim() === '') return text;
    for (let pair = this.#pairs[this.#next]; pair && pair.index < index; pair = this.#pairs[++this.#next]) {
      this.#above.set(pair.inChunk, pair);
    }
    const indent = indentOf(text);
    const same = this.#above.get(indent) ?? this.#first.get(indent);
    const beside = same ?? this.#pairs[Math.max(this.#next - 1, 0)];
    return beside ? translate(indent, beside) + text.slice(indent.length) : text;
  }
}

function translate(indent: string, { inChunk, inFile }: Pair): string {
  if (indent.startsWith(inChunk)) return inFile + inUnitsOf(indent.slice(inChunk.length), inChunk, inFile);
  // Less indented than the line beside it: removes as much in the file.
  const less = inUnitsOf(inChunk.slice(indent.length), inChunk, inFile);
  return inChunk.startsWith(indent) && inFile.endsWith(less) ? inFile.slice(0, inFile.length - less.length) : indent;
}

/** Converts spaces to tabs, or tabs to spaces, if the pair shows how many spaces are a tab. */
function inUnitsOf(more: string, inChunk: string, inFile: string): string {
  const isTabs = /^\t+$/.test(inFile) && /^ +$/.test(inChunk) && /^ +$/.test(more);
  const isSpaces = /^ +$/.test(inFile) && /^\t+$/.test(inChunk) && /^\t+$/.test(more);
  const unit = isTabs ? inChunk.length / inFile.length : inFile.length / inChunk.length;
  if (isTabs && more.length % unit === 0) return '\t'.repeat(more.length / unit);
  return isSpaces && Number.isInteger(unit) ? ' '.repeat(more.length * unit) : more;
}

function indentOf(text: string): string {
  return /^\s*/.exec(text)![0];
}

/**
 * What a command line consists of: quotes and backslashes as a POSIX shell reads them, and nothing else of a shell.
 *
 * Variables, globs, pipes and `&&` are ordinary text. A comment starts at a `#` that begins a word.
 */

/** A line whose quotes or backslashes do not end. */
export class UnbalancedError extends Error {
  override readonly name = 'UnbalancedError';
}

const BLANKS = new Set([' ', '\t', '\n']);
/** What a backslash takes its meaning from inside double quotes. */
const ESCAPED_IN_QUOTES = new Set(['$', '`', '"', '\\']);

export function splitCommand(line: string): string[] {
  return new Splitter(line).split();
}

class Splitter {
  readonly #line: string;
  #at = 0;

  constructor(line: string) {
    this.#line = line;
  }

  split(): string[] {
    const words: string[] = [];
    for (let char = this.#take(); char !== undefined; char = this.#take()) {
      if (BLANKS.has(char)) continue;
      if (char === '#') this.#skipComment();
      else words.push(this.#word(char));
    }
    return words;
  }

  #word(first: string): string {
    let word = '';
    for (let char: string | undefined = first; char !== undefined && !BLANKS.has(char); char = this.#take()) {
      if (char === "'") word += this.#literal();
      else if (char === '"') word += this.#quoted();
      else if (char === '\\') word += this.#escaped();
      else word += char;
    }
    return word;
  }

  #literal(): string {
    const end = this.#line.indexOf("'", this.#at);
    if (end < 0) throw new UnbalancedError("a ' is never closed");
    const text = this.#line.slice(this.#at, end);
    this.#at = end + 1;
    return text;
  }

  #quoted(): string {
    let text = '';
    for (let char = this.#take(); char !== '"'; char = this.#take()) {
      if (char === undefined) throw new UnbalancedError('a " is never closed');
      if (char !== '\\') {
        text += char;
        continue;
      }
      const next = this.#take();
      if (next === undefined) throw new UnbalancedError('a " is never closed');
      if (next !== '\n') text += ESCAPED_IN_QUOTES.has(next) ? next : `\\${next}`;
    }
    return text;
  }

  #escaped(): string {
    const next = this.#take();
    if (next === undefined) throw new UnbalancedError('nothing follows the last backslash');
    return next === '\n' ? '' : next;
  }

  #skipComment(): void {
    const end = this.#line.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.#line.length : end + 1;
  }

  #take(): string | undefined {
    return this.#line[this.#at++];
  }
}

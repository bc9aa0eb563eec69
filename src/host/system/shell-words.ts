/**
 * Splits a command line into words as a POSIX shell does, without its other features: nothing is expanded, and `|`,
 * `;`, `>` and `&` are ordinary characters.
 *
 * Words are separated by space, tab and newline only; a carriage return belongs to its word, as in a shell.
 */
export class WordsError extends Error {
  override readonly name = 'WordsError';
}

/** Between double quotes a backslash is literal, unless one of these follows. A newline vanishes with it. */
const ESCAPED_IN_DOUBLE_QUOTES = /\\([$`"\\\n])/g;

/** A backslash at the very end is literal, or with `isStrict` an error. */
export function splitWords(text: string, { isStrict = false } = {}): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (' \t\n'.includes(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (letter === '#' && word === undefined) {
      at = endOfComment(text, at);
    } else if (letter === "'" || letter === '"') {
      const end = closingQuote(text, at);
      const quoted = text.slice(at + 1, end);
      word = (word ?? '') + (letter === "'" ? quoted : quoted.replace(ESCAPED_IN_DOUBLE_QUOTES, withoutNewline));
      at = end;
    } else if (letter === '\\') {
      at++;
      if (isStrict && at === text.length) throw new WordsError('nothing follows the last backslash');
      if (text[at] !== '\n') word = (word ?? '') + (text[at] ?? '\\');
    } else {
      word = (word ?? '') + letter;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** Index before the newline that ends the comment. */
function endOfComment(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline < 0 ? text.length : newline - 1;
}

function closingQuote(text: string, at: number): number {
  const quote = text[at]!;
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === quote) return end;
    if (text[end] === '\\' && quote === '"') end++;
  }
  throw new WordsError('missing closing quote');
}

function withoutNewline(_: string, letter: string): string {
  return letter === '\n' ? '' : letter;
}

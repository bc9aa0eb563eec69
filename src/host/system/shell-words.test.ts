import { spawnSync } from 'node:child_process';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { splitWords, WordsError } from './shell-words.ts';

test.each([
  ['ls -la', ['ls', '-la']],
  ['', []],
  [' \t\n ', []],
  ['  echo \t a \n b ', ['echo', 'a', 'b']],
  ['echo \'a  b\' "c  d"', ['echo', 'a  b', 'c  d']],
  ['a\'b\'"c"d', ['abcd']],
  ['\'\' ""', ['', '']],
  ["'a\\'", ['a\\']],
  ['"a\\"b\\\\c\\$d\\`e"', ['a"b\\c$d`e']],
  ['"a\\b\\n"', ['a\\b\\n']],
  ['"a\\\nb"', ['ab']],
  ['a\\ b\\\'c\\"d', ['a b\'c"d']],
  ['a\\\nb', ['ab']],
  ['a \\\n b', ['a', 'b']],
  ['a\\', ['a\\']],
  ['\\', ['\\']],
  ['# only comment', []],
  ['ls # all of it\npwd', ['ls', 'pwd']],
  ['a#b \\#c \'#\' ""#d', ['a#b', '#c', '#', '#d']],
  ['echo $HOME `id` $(id) *.ts ~ {a,b}', ['echo', '$HOME', '`id`', '$(id)', '*.ts', '~', '{a,b}']],
  ['a|b;c&&d>e', ['a|b;c&&d>e']],
  ['a\rb\f', ['a\rb\f']],
  ["echo 'ключ 🔑'", ['echo', 'ключ 🔑']],
])('%j is the words %j', (text, words) => {
  expect(splitWords(text)).toEqual(words);
});

test.each(["'", '"', "echo 'a", 'echo "a', 'echo "a\\"', `'a' "b`, 'echo "\\'])('%j lacks a closing quote', (text) => {
  expect(() => splitWords(text)).toThrow(new WordsError('missing closing quote'));
});

test('a shell without expansion cuts the same words', () => {
  const piece = fc.constantFrom('a', 'b c', ' ', '\t', '\n', "'", '"', '\\', '#', '\\\n', "'x y'", '"x y"', '\\"');
  const texts = fc
    .sample(fc.array(piece, { maxLength: 12 }), 200)
    .map((pieces) => pieces.join(''))
    // The shell joins a last backslash to the line after it.
    .filter((text) => !text.endsWith('\\'));
  expect(texts.map((text) => ({ text, words: splitOrFail(text) }))).toEqual(wordsOfShell(texts));
});

function splitOrFail(text: string): string[] | 'open quote' {
  try {
    return splitWords(text);
  } catch {
    return 'open quote';
  }
}

/** An array literal of bash takes newlines and comments between words. One process cuts all texts. */
function wordsOfShell(texts: string[]): { text: string; words: string[] | 'open quote' }[] {
  const script = `for text; do
    if eval "words=(
$text
)"; then printf '%s\\0' "\${#words[@]}" "\${words[@]}"; else printf '%s\\0' -1; fi
  done`;
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...texts], { encoding: 'utf8' });
  const fields = stdout.split('\0');
  return texts.map((text) => {
    const count = Number(fields.shift());
    return { text, words: count === -1 ? 'open quote' : fields.splice(0, count) };
  });
}

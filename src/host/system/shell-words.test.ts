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
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      // Two edges where the shell is no judge: a last backslash, and newlines, which end a command there.
      fc.pre(!text.endsWith('\\'));
      expect(splitOrFail(text)).toEqual(wordsOfShell(text));
    }),
    { numRuns: 150 },
  );
});

function splitOrFail(text: string): string[] | 'open quote' {
  try {
    return splitWords(text);
  } catch {
    return 'open quote';
  }
}

/** An array literal of bash takes newlines and comments between words. */
function wordsOfShell(text: string): string[] | 'open quote' {
  const script = `words=(\n${text}\n)\n[ "\${#words[@]}" -eq 0 ] || printf '%s\\0' "\${words[@]}"`;
  const { status, stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\0').slice(0, -1) : 'open quote';
}

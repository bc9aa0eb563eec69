/**
 * Trees to search in, made once from a seed and kept in the temporary directory.
 *
 * They look like source: packages of nested folders with a dozen files each, lines of words with indentation, a few
 * long lines, some files binary. Half of the files are below 4 KB and a few have hundreds, as in a real repository.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSION = 3;
const HOME = join(tmpdir(), `workcell-bench-search-${VERSION}`);

const WORDS =
  'import export from const return function class interface value result error handler request response path file ' +
  'line column buffer stream config options session worker thread search match index query limit string number ' +
  'boolean array object promise async await throw catch finally module default public private static void null';

/** 30 files in one folder, about 3,000 as in a repository, and over 100,000 as with its packages. */
export function corpora({ isQuick }) {
  return {
    small: makeTree('small', { files: 30, seed: 1 }),
    medium: makeTree('medium', { files: 3000, seed: 2 }),
    large: makeTree(isQuick ? 'large-quick' : 'large', { files: isQuick ? 12_000 : 110_000, seed: 3 }),
  };
}

function makeTree(name, { files, seed }) {
  const root = join(HOME, name);
  if (existsSync(`${root}.done`)) return root;

  console.log(`making ${root}`);
  rmSync(root, { recursive: true, force: true });
  const random = generator(seed);
  const lines = Array.from({ length: 5000 }, (_, i) => sourceLine(random, i));
  let folder = root;
  for (let i = 0; i < files; i++) {
    if (i % 12 === 0) {
      const depth = 1 + Math.floor(random() * 5);
      folder = join(
        root,
        ...Array.from({ length: depth }, () => `pkg-${Math.floor(random() * files ** 0.5)}`),
        `m${i}`,
      );
      mkdirSync(folder, { recursive: true });
    }
    writeFileSync(join(folder, `file-${i}.${['ts', 'js', 'md', 'json'][i % 4]}`), content(random, lines, i));
  }
  writeFileSync(`${root}.done`, '');
  return root;
}

function content(random, lines, number) {
  const bytes = Math.floor(400 * 2 ** (random() ** 2 * 7.5));
  const parts = [`// file ${number}\n`];
  for (let length = 0; length < bytes;) {
    const line = lines[Math.floor(random() * lines.length)];
    parts.push(line);
    length += line.length;
  }
  // About a tenth hold the rarer names, one in a hundred is binary.
  if (random() < 0.1) parts.push(`  const memo = useMemo(() => registerTrigger(${number}));\n`);
  if (random() < 0.01) parts.push('\0');
  return parts.join('');
}

function sourceLine(random, number) {
  const words = WORDS.split(' ');
  const count = 2 + Math.floor(random() * 10);
  const picked = Array.from({ length: count }, () => words[Math.floor(random() * words.length)]);
  const indent = '  '.repeat(Math.floor(random() * 4));
  return `${indent}${picked.join(' ')}_${number % 97}(${Math.floor(random() * 1000)});\n`;
}

/** mulberry32 */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Checks the ids of promises (SPECIFICATION.md) and cases (docs/cases.md): each is defined once, and its row names exactly
 * the files that have a test for it.
 *
 * A title starts with its ids, and so may a row of `test.each` that becomes a title. Comments, `.skip` and `.todo` do not
 * count, nor do ids further inside a text. Comments and pages name ids with their area too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['SPECIFICATION.md', 'docs/cases.md'];
const BENCHMARKS = 'docs/benchmarks.md';
const ID = /[a-z]+(?:-[a-z]+)*\.[A-Z]\d+/.source;
const TITLE_WITH_IDS = new RegExp(`(?<!\\.(?:skip|todo)\\(\\s*)['"\`]((?:${ID}[ ,]+)*${ID})(?![\\w.])`, 'g');
/** A letter and digits first in a title or in a row: an id without its area, unless it is an error code. */
const BARE_ID = /[([]\s*['"`]([A-Z]\d+)(?=[ :,–-])/g;

const rows = PAGES.flatMap(rowsOf);
const TEST_FILES = ['src', 'tests', 'console/src'].flatMap((folder) => filesUnder(folder, /\.(test|contract)\.tsx?$/));
const titled = TEST_FILES.flatMap(idsInTitles);

test('every row of a table has an id that no other row has', () => {
  const wrong = rows.filter(({ id }, at) => !isId(id) || rows.findIndex((row) => row.id === id) !== at);
  expect(wrong.map(({ id, page }) => `${page}: ${id} is not an id such as coder.C12, or has a row already`)).toEqual(
    [],
  );
});

test('every id in a title is defined', () => {
  const defined = new Set(rows.map(({ id }) => id));
  const unknown = titled.filter(({ id }) => !defined.has(id));
  const advice = 'is not defined: give it an area and a row in docs/cases.md, as coder.C01 has, or reword the title';
  expect(unknown.map(({ id, file }) => `${file}: ${id} ${advice}`)).toEqual([]);
});

test('every id is in a title of each file in its row, and of no other file', () => {
  const wrong = rows.flatMap(({ id, page, files }) => {
    const found = new Set(titled.filter((title) => title.id === id).map(({ file }) => file));
    return [
      ...files.filter((file) => !found.has(file)).map((file) => `${page}: no title in ${file} starts with ${id}`),
      ...[...found].filter((file) => !files.includes(file)).map((file) => `${page}: add ${file} to the row of ${id}`),
    ];
  });
  expect(wrong).toEqual([]);
});

test('every id has a test; a promise may name a benchmark instead, or say pending', () => {
  const unbound = rows.filter(({ id, files, heldBy }) => {
    const isExcused = id.includes('.P') && /`bench\/|pending/.test(heldBy);
    return files.length === 0 && !isExcused;
  });
  expect(unbound.map(({ id, page }) => `${page}: ${id} names no test`)).toEqual([]);
});

test('an id in a comment of a test or benchmark, or on a page, has its area', () => {
  const bare = /(?<![\w./`#:-])(?!V8\b)[A-Z]\d{1,3}\b(?![.-]?\w)/g;
  const pages = markdownFiles().map((file) => ({ file, text: read(file).replaceAll(/```[^]*?```/g, '') }));
  const comments = [...TEST_FILES, ...filesUnder('bench', /\.mjs$/)].map((file) => {
    return { file, text: (read(file).match(/^\s*(\*|\/\/|\/\*).*$/gm) ?? []).join('\n') };
  });
  const found = [...pages, ...comments].flatMap(({ file, text }) =>
    Array.from(text.matchAll(bare), ([id]) => ({ id, file })).filter((one) => !isErrorCode(one.id)),
  );
  expect(found).toEqual([]);
});

test('no test is skipped or left to do: `skipIf` names the condition', () => {
  const marker = /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|todo)\b/g;
  const found = TEST_FILES.flatMap((file) => Array.from(read(file).matchAll(marker), ([text]) => `${file}: ${text}`));
  expect(found).toEqual([]);
});

test('every id of a benchmark that a page names has a row in docs/benchmarks.md', () => {
  const named = markdownFiles().flatMap((file) => read(file).match(/(?<=`)bench-[a-z]+\.[A-Z]\d+(?=`)/g) ?? []);
  const benchmarks = read(BENCHMARKS);
  expect(named.filter((id) => !new RegExp(`^\\| ${id}[ ,]`, 'm').test(benchmarks))).toEqual([]);
});

/** The rows of every table on a page, but for those of the header. */
function rowsOf(page: string) {
  const lines = read(page).matchAll(/^\| (?!Id |---)(.+?) \| .+ \| (.+) \|$/gm);
  return Array.from(lines, ([, id = '', heldBy = '']) => {
    const files = [...heldBy.matchAll(/`([^`]+\.(?:test|contract)\.ts)`/g)].map(([, file]) => file!);
    return { id, page, heldBy, files };
  });
}

function idsInTitles(file: string) {
  const text = read(file).replaceAll(/^\s*(\*|\/\/|\/\*).*$/gm, '');
  const whole = [...text.matchAll(TITLE_WITH_IDS)].flatMap(([, ids]) => ids!.split(/[ ,]+/));
  const bare = [...text.matchAll(BARE_ID)].map(([, id]) => id!).filter((id) => !isErrorCode(id));
  return [...whole, ...bare].map((id) => ({ id, file }));
}

function isId(text: string): boolean {
  return new RegExp(`^${ID}$`).test(text);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function isErrorCode(text: string): boolean {
  return read('docs/reference/errors.md').includes(`\`${text}\``);
}

function filesUnder(folder: string, wanted: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => wanted.test(file));
}

function markdownFiles(): string[] {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
  return [...readdirSync(ROOT), ...inDocs].filter((file) => file.endsWith('.md'));
}

/**
 * Checks the ids of promises (SPECIFICATION.md) and cases (docs/cases.md): each is defined once, and its row names exactly
 * the files that have a test for it.
 *
 * A title starts with its ids, and so may a row of `test.each` that becomes a title. Comments, `.skip` and `.todo` do not
 * count, nor do ids further inside a text.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['SPECIFICATION.md', 'docs/cases.md'];
const ID = /[a-z]+(?:-[a-z]+)*\.[A-Z]\d+/.source;
const TITLE_WITH_IDS = new RegExp(`(?<!\\.(?:skip|todo)\\(\\s*)['"\`]((?:${ID}[ ,]+)*${ID})(?![\\w.])`, 'g');
/** A letter and digits first in a title or in a row: an id without its area, unless it is an error code. */
const BARE_ID = /[([]\s*['"`]([A-Z]\d+)(?=[ :,–-])/g;

const rows = PAGES.flatMap(rowsOf);
const titled = ['src', 'tests', 'console/src'].flatMap(testFilesUnder).flatMap(idsInTitles);

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

/** The rows of every table on a page, but for those of the header. */
function rowsOf(page: string) {
  const lines = readFileSync(join(ROOT, page), 'utf8').matchAll(/^\| (?!Id |---)(.+?) \| .+ \| (.+) \|$/gm);
  return Array.from(lines, ([, id = '', heldBy = '']) => {
    const files = [...heldBy.matchAll(/`([^`]+\.(?:test|contract)\.ts)`/g)].map(([, file]) => file!);
    return { id, page, heldBy, files };
  });
}

function idsInTitles(file: string) {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^\s*(\*|\/\/|\/\*).*$/gm, '');
  const whole = [...text.matchAll(TITLE_WITH_IDS)].flatMap(([, ids]) => ids!.split(/[ ,]+/));
  const bare = [...text.matchAll(BARE_ID)].map(([, id]) => id!).filter((id) => !isErrorCode(id));
  return [...whole, ...bare].map((id) => ({ id, file }));
}

function isId(text: string): boolean {
  return new RegExp(`^${ID}$`).test(text);
}

function isErrorCode(text: string): boolean {
  return readFileSync(join(ROOT, 'docs/reference/errors.md'), 'utf8').includes(`\`${text}\``);
}

function testFilesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => /\.(test|contract)\.tsx?$/.test(file));
}

/** Checks the pages: links resolve, and promises name tests that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const pages = markdownFiles(ROOT);

test.each(pages)('every relative link of %s leads to a file', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8').replace(/```[\s\S]*?```/g, '');
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => !existsSync(join(ROOT, dirname(page), link)));
  expect(broken).toEqual([]);
});

test('every promise of SPECIFICATION.md names a test that exists, or says pending', () => {
  const rows = readFileSync(join(ROOT, 'SPECIFICATION.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| [A-Z]+\d+ /.test(line));
  expect(rows.length).toBeGreaterThan(20);

  const unheld = rows.filter((row) => {
    const tests = [...row.matchAll(/`((?:src|tests|bench)\/[^`]+)`/g)].map(([, file]) => file!);
    return tests.length === 0 ? !row.includes('pending') : tests.some((file) => !existsSync(join(ROOT, file)));
  });
  expect(unheld).toEqual([]);
});

test('no page names a folder of a developer’s machine', () => {
  const named = pages.filter((page) => /\/(root|home)\/(?!app\b)\w/.test(readFileSync(join(ROOT, page), 'utf8')));
  expect(named).toEqual([]);
});

test('no page counts what grows with the product', () => {
  const growing =
    /\b(\d+|two|three|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|sixteen) (functions|tools|actions|error codes|file operations|file functions)\b/i;
  const counted = pages
    .filter((page) => page !== 'CHANGELOG.md')
    .flatMap((page) =>
      readFileSync(join(ROOT, page), 'utf8')
        .split('\n')
        .flatMap((line, at) => (growing.test(line) ? [`${page}:${at + 1}: ${line}`] : [])),
    );
  expect(counted).toEqual([]);
});

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : markdownFiles(path);
    return entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
  });
}

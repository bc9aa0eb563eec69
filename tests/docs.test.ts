/** Checks the pages: links resolve, and named files exist. */
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

test('every file that SPECIFICATION.md names exists', () => {
  const text = readFileSync(join(ROOT, 'SPECIFICATION.md'), 'utf8');
  const files = [...text.matchAll(/`((?:src|tests|bench|scripts)\/[^`]+)`/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
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

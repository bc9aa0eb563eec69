/**
 * A ratchet on the words that made comments, messages and pages hard to read (CONTRIBUTING.md, "Plain English").
 *
 * A limit may only fall: rewrite the sentence, or lower the limit when a change removed some.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const WORDS = [
  { word: 'who, whom', pattern: /\bwhom?\b(?!\(|["'`])/gi, source: 8, pages: 0 },
  { word: 'whoever', pattern: /\bwhoever\b/gi, source: 1, pages: 0 },
  { word: 'nobody, somebody, someone', pattern: /\b(no|some|any)body\b|\bsomeone\b/gi, source: 6, pages: 2 },
  // In source these are names in code; no comment has the word.
  { word: 'tell, told', pattern: /\b(tells?|told|telling)\b/gi, source: 113, pages: 0 },
  {
    word: 'tell, told in a comment',
    pattern: /(?<=^\s*(\/?\*|\/\/).* )(tells?|told|telling)\b/gi,
    source: 0,
    pages: 0,
  },
  { word: 'is no', pattern: /(?<!\bthere )\b(is|are|was|were) no (?!longer\b|more\b)/gi, source: 1, pages: 1 },
  { word: 'look at, ask after', pattern: /\blook(s|ed|ing)? at\b|\basks? after\b/gi, source: 4, pages: 7 },
  {
    word: 'go on, give up, be over, all the same',
    pattern:
      /\b(goes?|going|went) on\b|\bg(ave|iven?|ives|iving) up\b|\b(are|be|is|was|were) over\b(?! (\d|\$|the|its))|\ball the same\b/gi,
    source: 12,
    pages: 0,
  },
  {
    word: 'stand in, lead to',
    pattern: /\b(stands?|stood) (?!for\b)|\b(leads?|led) (elsewhere|into|nowhere|out|through|to)\b/gi,
    source: 3,
    pages: 0,
  },
];

const SOURCES = files(['src', 'console/src'], /\.(tsx?|c|h|as|css)$/, /\.(test|contract)\.tsx?$/);
const PAGES = files(['.'], /\.md$/, /^(CHANGELOG|CONTRIBUTING)\.md$/);

test.each(WORDS)('$word: not more often than before', ({ pattern, source, pages }) => {
  const more = { source: beyond(source, hits(SOURCES, pattern)), pages: beyond(pages, hits(PAGES, pattern)) };
  expect(more).toEqual({ source: [], pages: [] });
});

/** All hits when there are more than the limit: the new one is among them. */
function beyond(limit: number, found: string[]): string[] {
  return found.length > limit ? found : [];
}

/** `file:line: text` for each time the pattern occurs. */
function hits(paths: string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, at) => Array.from(line.matchAll(pattern), () => `${path}:${at + 1}: ${line.trim()}`)),
  );
}

function files(folders: string[], wanted: RegExp, unwanted: RegExp): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory())
        return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : files([path], wanted, unwanted);
      return wanted.test(path) && !unwanted.test(path) ? [path] : [];
    }),
  );
}

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
  { word: 'who, whom', pattern: /\bwhom?\b(?!\(|["'`])/gi, source: 4, pages: 0, tests: 22 },
  { word: 'whoever', pattern: /\bwhoever\b/gi, source: 0, pages: 0, tests: 0 },
  { word: 'nobody, somebody, someone', pattern: /\b(no|some|any)body\b|\bsomeone\b/gi, source: 6, pages: 2, tests: 0 },
  { word: 'tell, told', pattern: /\b(tells?|told|telling)\b/gi, source: 0, pages: 0, tests: 0 },
  {
    word: 'is no',
    pattern: /(?<!\bthere )\b(is|are|was|were) no (?!longer\b|more\b)/gi,
    source: 1,
    pages: 1,
    tests: 0,
  },
  { word: 'look at, ask after', pattern: /\blook(s|ed|ing)? at\b|\basks? after\b/gi, source: 0, pages: 0, tests: 0 },
  {
    word: 'go on, give up, be over, all the same',
    pattern:
      /\b(go(es|ing)?|went) on\b|\bg(ave|iven?|ives|iving) up\b|\b(are|be|is|was|were) over\b(?! (\d|\$|the|its))|\ball the same\b/gi,
    source: 2,
    pages: 0,
    tests: 4,
  },
  { word: 'that is none', pattern: /\bthat (is|are) none\b|\bmissing or none\b/gi, source: 0, pages: 0, tests: 0 },
  {
    word: 'stand in, lead to',
    pattern: /\b(stands?|stood) (?!for\b)|\b(leads?|led) (elsewhere|into|nowhere|out|through|to)\b/gi,
    source: 0,
    pages: 0,
    tests: 0,
  },
  // A descriptor is open, a lock is taken, bytes wait, contents are kept, calls are paused.
  { word: 'held', pattern: /(?<!with)held(?! by\b)/gi, source: 0, pages: 0, tests: 14 },
  { word: 'Place, as a type', pattern: /\b(interface|type|class) \w*Places?\b/g, source: 0, pages: 0, tests: 3 },
  // A noun names the thing shorter: not "what this node announces" but "the announcement of this node".
  { word: 'what, in comments', pattern: /(\/\*+ |^\s*\* |\/\/ ).*\bwhat\b(?!-)/gi, source: 0, pages: 3, tests: 48 },
];

const SOURCES = linesOf(files(['src', 'console/src'], /\.(tsx?|c|h|as|css)$/, /\.(test|contract)\.tsx?$/));
const TESTS = linesOf([
  ...files(['src', 'console/src'], /\.(test|contract)\.tsx?$/),
  // The pins are texts of the product, and this file names the words.
  ...files(['tests', 'scripts', 'bench', 'examples'], /\.(tsx?|m?js|py|c)$/, /^tests\/(pins\/|plain-english)/),
]);
const PAGES = linesOf(files(['.'], /\.md$/));

test.each(WORDS)('$word: not more often than before', ({ pattern, source, pages, tests }) => {
  const more = {
    source: beyond(source, hits(SOURCES, pattern)),
    pages: beyond(pages, hits(PAGES, pattern)),
    tests: beyond(tests, hits(TESTS, pattern)),
  };
  expect(more).toEqual({ source: [], pages: [], tests: [] });
});

/** All hits when there are more than the limit: the new one is among them. */
function beyond(limit: number, found: string[]): string[] {
  return found.length > limit ? found : [];
}

/** `file:line: text` for each time the pattern occurs. */
function hits(lines: Line[], pattern: RegExp): string[] {
  return lines.flatMap(({ at, text }) => Array.from(text.matchAll(pattern), () => `${at}: ${text.trim()}`));
}

interface Line {
  at: string;
  text: string;
}

function linesOf(paths: string[]): Line[] {
  /** In CONTRIBUTING.md: it names the words. */
  const rules = /^## Plain English\n[^]*?(?=^## )/m;
  return paths.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .replace(rules, (part) => part.replaceAll(/.+/g, ''))
      .split('\n')
      .map((text, index) => ({ at: `${path}:${index + 1}`, text })),
  );
}

function files(folders: string[], wanted: RegExp, unwanted?: RegExp): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory())
        return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : files([path], wanted, unwanted);
      return wanted.test(path) && !unwanted?.test(path) ? [path] : [];
    }),
  );
}

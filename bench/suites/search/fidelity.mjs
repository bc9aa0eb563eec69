/**
 * Regexes and globs beside the truth that was recorded from the Rust crates, and those that make a backtracking matcher
 * hang: about a kilobyte of each kind on ten kilobytes.
 */
import { readFileSync } from 'node:fs';

import { compileGlobs, compileRegex } from '../../../dist/host/index.js';
import { median } from '../../statistics.mjs';
import { formatNumber } from '../../units.mjs';

const KILOBYTE = 1024;
const TEXT = 'a'.repeat(10 * KILOBYTE);
const LIMIT_MS = 50;
const RUNS = 5;

const repeated = (unit, end = '') => unit.repeat(Math.floor((KILOBYTE - end.length) / unit.length)) + end;
const REGEXES = [
  repeated('(a+)+', '$'),
  repeated('(.*)*', '=x'),
  repeated('([a-z]+)*', '\\d'),
  repeated('a?', 'b'),
  `${'a?'.repeat(340)}${'a'.repeat(340)}`,
  `(?:${repeated('a|', 'a)*b')}`,
  repeated('\\s+', '$'),
];
/** Each class stands for a hundred thousand characters, which takes the time. */
const UNICODE_REGEXES = [repeated('(\\w+\\s?)+', '!!'), repeated('([\\p{L}]+)*', '\\d')];
const GLOBS = [
  repeated('*a', 'b'),
  repeated('?', '*b'),
  repeated('*a{?,?}', 'b'),
  repeated('**/', 'b'),
  repeated('[!b]*', 'b'),
];

/** bench-search.G1 */
export function measureFidelity(harness) {
  const [asked, wrong] = [regexRows(), globRows(), fuzzRows()].reduce(
    ([all, bad], rows) => [all + rows.length, bad + rows.filter((isRight) => !isRight).length],
    [0, 0],
  );
  harness.bar({
    id: 'G1 as in Rust',
    goal: '0 differences',
    measured: `${wrong} of ${asked.toLocaleString('en')}`,
    met: wrong === 0,
  });
  slowest(harness, 'globs', GLOBS, (glob) => compileGlobs([glob])(TEXT));
  slowest(harness, 'regexes', REGEXES, matchText);
  slowest(harness, 'regexes of Unicode classes', UNICODE_REGEXES, matchText);
}

function slowest(harness, kind, patterns, work) {
  const medians = patterns.map((pattern) =>
    median(Array.from({ length: RUNS }, (_, i) => timeOf(() => work(pattern, i)))),
  );
  const worst = Math.max(...medians);
  const measured = `${formatNumber(worst)} ms`;
  harness.bar({ id: `G1 ${kind}`, goal: `1 KB on 10 KB ≤ ${LIMIT_MS} ms`, measured, met: worst <= LIMIT_MS });
}

function timeOf(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/**
 * A different regex each time, because compiled ones are cached. The suffix is optional, so that no required last letter
 * allows a shortcut.
 */
function matchText(pattern, run) {
  compileRegex(`${pattern}(?:${'z'.repeat(run)})?`).find(Buffer.from(TEXT), 0);
}

function regexRows() {
  return JSON.parse(fixture('regex.json')).matches.map(([pattern, text, truth]) => spansOf(pattern, text) === truth);
}

/** Iterates as the crate does: no empty match where the previous match ended. */
function spansOf(pattern, text) {
  let regex;
  try {
    regex = compileRegex(pattern);
  } catch {
    return 'error';
  }
  const bytes = Buffer.from(text);
  const spans = [];
  for (let from = 0; from <= bytes.length;) {
    const match = regex.find(bytes, from);
    if (!match) break;
    const isAfterLast = match.start === match.end && match.end === spans.at(-1)?.end;
    if (!isAfterLast) spans.push(match);
    from = isAfterLast ? match.end + 1 : match.end;
  }
  return spans.map(({ start, end }) => `${start}-${end}`).join(',');
}

function globRows() {
  const [paths, ...rows] = fixture('glob-table.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return rows.flatMap(([pattern, truth]) => {
    const matches = globOf(pattern);
    return paths.map((path, i) => (truth === 'error' ? !matches : matches?.(path) === truth.includes(i)));
  });
}

function fuzzRows() {
  return fixture('glob-fuzz.tsv')
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [pattern, ...marked] = line.split('\t');
      const matches = globOf(pattern);
      return marked.map((path) => matches?.(path.slice(1)) === (path[0] === '+'));
    });
}

function globOf(pattern) {
  try {
    return compileGlobs([pattern]);
  } catch {
    return undefined;
  }
}

function fixture(name) {
  return readFileSync(new URL(`../../../src/host/fixtures/${name}`, import.meta.url), 'utf8');
}

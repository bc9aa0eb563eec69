/** Patches of random edits of real files, intact and with the mistakes that models make. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { Failure } from '#contract';
import { Turns } from '#host';
import { rounds } from '#testing';
import { applyEdits } from './apply-edits.ts';
import { parsePatch } from './parse-patch.ts';
import { placeChunks } from './place-chunks.ts';
import { Source } from './source.ts';

const EDITS = rounds(200, 2000, 2000);
const DAMAGED = rounds(1500, 10_000, 10_000);
const MISTAKES = rounds(300, 1000, 1000);

const turns = new Turns(new AbortController().signal, 5);
const here = import.meta.dirname;
const texts = [...readdirSync(here), ...readdirSync(join(here, '../functions')).map((name) => `../functions/${name}`)]
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(here, name), 'utf8'));

/** Seeded random numbers, the same in every run. */
function randomFrom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Replaces `removed` lines from line `at` on by `added`. */
interface Change {
  at: number;
  removed: number;
  added: string[];
}

interface Hunk {
  /** Index of its first line. */
  at: number;
  lines: string[];
}

/** Up to four changes with at least seven lines between them, so that each is a hunk of its own. */
function randomChanges(lines: readonly string[], random: (below: number) => number): Change[] {
  const changes: Change[] = [];
  for (let at = random(30); at < lines.length && changes.length < 4; at += 8 + random(60)) {
    const removed = Math.min(random(4), lines.length - at);
    const added = Array.from({ length: random(3) }, (_, i) => `  const made${i} = ${random(1000)};`);
    if (removed + added.length > 0) changes.push({ at, removed, added });
    at += removed;
  }
  return changes;
}

function applied(lines: readonly string[], changes: readonly Change[]): string {
  const result = [...lines];
  for (const { at, removed, added } of changes.toReversed()) result.splice(at, removed, ...added);
  return result.map((line) => `${line}\n`).join('');
}

function hunkOf(lines: readonly string[], { at, removed, added }: Change): Hunk {
  const from = Math.max(0, at - 3);
  return {
    at: from,
    lines: [
      ...lines.slice(from, at).map((line) => ` ${line}`),
      ...lines.slice(at, at + removed).map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...lines.slice(at + removed, at + removed + 3).map((line) => ` ${line}`),
    ],
  };
}

const oldLines = ({ lines }: Hunk) => lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));

function matchesOf(lines: readonly string[], run: readonly string[], from = 0): number[] {
  const places: number[] = [];
  for (let at = from; at + run.length <= lines.length; at++) {
    if (run.every((line, i) => lines[at + i] === line)) places.push(at);
  }
  return places;
}

/** True if a hunk matches only once without its indentation, so that there is one right answer. */
function isUnique(lines: readonly string[], hunk: Hunk): boolean {
  const trim = (all: readonly string[]) => all.map((line) => line.trim());
  return matchesOf(trim(lines), trim(oldLines(hunk))).length === 1;
}

const numbers = (hunk: Hunk, { shift = 0, wrong = false } = {}) => {
  const count = (sign: string) => (wrong ? 99 : hunk.lines.filter((line) => !line.startsWith(sign)).length);
  return `@@ -${hunk.at + 1 + shift},${count('+')} +${hunk.at + 1 + shift},${wrong ? 7 : count('-')} @@`;
};
const unified = (hunks: readonly Hunk[], options = {}) =>
  ['--- a/x', '+++ b/x', ...hunks.flatMap((hunk) => [numbers(hunk, options), ...hunk.lines]), ''].join('\n');
const v4a = (hunks: readonly Hunk[]) =>
  ['*** Begin Patch', '*** Update File: x', ...hunks.flatMap(({ lines }) => ['@@', ...lines]), '*** End Patch'].join(
    '\n',
  );
const eachLine = (hunks: readonly Hunk[], change: (line: string) => string) =>
  hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(change) }));
const withoutSpace = (hunks: readonly Hunk[]) => eachLine(hunks, (line) => line.trimEnd());
const outdented = (hunks: readonly Hunk[]) => eachLine(hunks, (line) => line[0] + line.slice(1).replace(/^ {2}/, ''));

async function place(text: string, patch: string) {
  const { lines, files } = await parsePatch(patch, turns);
  const source = await Source.of(text, turns);
  const placement = await placeChunks(source, { chunks: files[0]!.chunks, lines, fuzz: 'indent' }, turns);
  return { ...placement, text: applyEdits(source, placement.edits) };
}

const trimmed = (text: string) => text.split('\n').map((line) => line.trim());

test.each([
  ['a unified diff', (hunks: Hunk[]) => unified(hunks), 'bytes'],
  ['V4A', (hunks: Hunk[]) => v4a(hunks), 'bytes'],
  ['a unified diff without spaces at line ends', (hunks: Hunk[]) => unified(withoutSpace(hunks)), 'words'],
  ['V4A without spaces at line ends', (hunks: Hunk[]) => v4a(withoutSpace(hunks)), 'words'],
  ['wrong counts', (hunks: Hunk[]) => unified(hunks, { wrong: true }), 'bytes'],
  ['wrong line numbers', (hunks: Hunk[]) => unified(hunks, { shift: 11 }), 'bytes'],
  ['a unified diff with lost indentation', (hunks: Hunk[]) => unified(outdented(hunks)), 'words'],
  ['V4A with lost indentation', (hunks: Hunk[]) => v4a(outdented(hunks)), 'words'],
] as const)(
  `patch.C2 coder.P26 ${EDITS} random edits as %s`,
  async (_, write, compared) => {
    const random = randomFrom(7);
    const wrong: object[] = [];
    let chunks = 0;
    let refused = 0;
    for (let round = 0; round < EDITS; round++) {
      const text = texts[random(texts.length)]!;
      const lines = text.split('\n').slice(0, -1);
      const changes = randomChanges(lines, random);
      if (changes.length === 0) continue;
      const expected = applied(lines, changes);
      const result = await place(text, write(changes.map((change) => hunkOf(lines, change))));
      chunks += changes.length;
      refused += result.misfits.length;
      if (result.misfits.length > 0) continue;
      const isRight =
        compared === 'bytes' ? result.text === expected : String(trimmed(result.text)) === String(trimmed(expected));
      if (!isRight) wrong.push({ round, placed: result.placed, changes });
    }
    expect(wrong).toEqual([]);
    expect({ refused, chunks }).toEqual({ refused: 0, chunks });
  },
  120_000,
);

/** Makes one random mistake in the lines of a hunk. */
function damage(lines: string[], random: (below: number) => number): string[] {
  const damaged = [...lines];
  const at = random(damaged.length);
  const line = damaged[at]!;
  const cut = 1 + random(Math.max(1, line.length - 1));
  const ways = [
    () => damaged.splice(at, 1),
    () => damaged.splice(at, 0, line),
    () => damaged.splice(at, 1, line.slice(0, cut) + line.slice(cut + 1)),
    () => damaged.splice(at, 1, `${line.slice(0, cut)}x${line.slice(cut)}`),
    () => damaged.splice(at, 1, ` ${line.slice(1)}`),
    () => damaged.splice(at, 1, `-${line.slice(1)}`),
    () => damaged.splice(at, 2, damaged[at + 1] ?? ' ', line),
    () => damaged.splice(at, 1, line.replace(/^(.)\s+/, '$1')),
  ];
  ways[random(ways.length)]!();
  return damaged;
}

test(`patch.C3 coder.P26 ${DAMAGED} damaged patches: an exact match has these lines and is the first`, async () => {
  const random = randomFrom(11);
  const wrong: object[] = [];
  let exact = 0;
  for (let round = 0; round < DAMAGED; round++) {
    const text = texts[random(texts.length)]!;
    const lines = text.split('\n').slice(0, -1);
    const hunks = randomChanges(lines, random).map((change) => hunkOf(lines, change));
    const damaged = hunks.map((hunk) => ({ ...hunk, lines: damage(hunk.lines, random) }));
    const { placed } = await place(text, v4a(damaged)).catch(unlessRefused);
    let from = 0;
    for (const { chunk, line, level } of placed) {
      const run = oldLines(damaged[chunk - 1]!).map((old) => old);
      const first = matchesOf(lines, run, from)[0] ?? matchesOf(lines, run)[0];
      if (level === 'exact' && run.length > 0) exact++;
      if (level === 'exact' && run.length > 0 && first !== line - 1) wrong.push({ round, chunk, line, first });
      from = line - 1 + run.length;
    }
  }
  expect(wrong).toEqual([]);
  expect(exact).toBeGreaterThan(DAMAGED / 10);
}, 120_000);

/** A patch that is refused as invalid is not placed wrongly. */
function unlessRefused(error: unknown) {
  if (!(error instanceof Failure)) throw error;
  return { placed: [] };
}

test(`patch.C6 coder.P27 the first differing line is right in ${MISTAKES} one-line mistakes`, async () => {
  const random = randomFrom(13);
  const wrong: object[] = [];
  for (let done = 0; done < MISTAKES;) {
    const text = texts[random(texts.length)]!;
    const lines = text.split('\n').slice(0, -1);
    const [change] = randomChanges(lines, random);
    if (!change || !isUnique(lines, hunkOf(lines, change))) continue;
    const hunk = hunkOf(lines, change);
    const at = random(hunk.lines.length);
    const line = hunk.lines[at]!;
    const cut = 1 + random(line.length);
    const mistake = `${line.slice(0, cut)}${'qzx'[random(3)]}${line.slice(cut + random(2))}`;
    if (line.startsWith('+') || line.trim().length < 2 || mistake === line) continue;
    done++;
    const index = hunk.lines.slice(0, at).filter((old) => !old.startsWith('+')).length;
    const { misfits } = await place(text, v4a([{ ...hunk, lines: hunk.lines.with(at, mistake) }]));
    const expected = { line: hunk.at + index + 1, expected: mistake.slice(1), found: line.slice(1) };
    const reported = misfits[0]?.nearest?.first_difference;
    if (JSON.stringify(reported) !== JSON.stringify(expected)) wrong.push({ expected, reported, hunk, misfits });
  }
  expect(wrong).toEqual([]);
}, 120_000);

test(`patch.C7 ${EDITS} patches sent twice are refused as already applied`, async () => {
  const random = randomFrom(17);
  const wrong: object[] = [];
  for (let round = 0; round < EDITS; round++) {
    const text = texts[random(texts.length)]!;
    const lines = text.split('\n').slice(0, -1);
    const changes = randomChanges(lines, random).filter(({ added }) => added.length > 0);
    const hunks = changes.map((change) => hunkOf(lines, change));
    if (changes.length === 0 || !hunks.every((hunk) => isUnique(lines, hunk))) continue;
    const patch = [v4a, unified][round % 2]!(hunks);
    const first = await place(text, patch);
    const again = await place(first.text, patch);
    const isTold = again.misfits.length === changes.length && again.misfits.every((misfit) => misfit.already_applied);
    if (!isTold) wrong.push({ patch, misfits: again.misfits, placed: again.placed });
  }
  expect(wrong).toEqual([]);
}, 120_000);

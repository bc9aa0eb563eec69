import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { silentLog } from '#contract';
import { AuditLog } from './audit-log.ts';
import { Auditor } from './auditor.ts';
import { Mask, shownFields } from './masked.ts';
import { recordsOf, verifyChain } from './read-chain.ts';

const LIMITS = { maxBytes: 1_000_000, keep: 3 };
const stateDir = () => mkdtempSync(join(tmpdir(), 'audit-'));

function logOf(count: number, dir = stateDir(), limits = LIMITS): string {
  const log = AuditLog.open(dir, limits);
  for (let at = 1; at <= count; at++) log.append([{ at, text: `line ${at}`, quote: '"hash":"' }]);
  log.close();
  return log.folder;
}

function edit(folder: string, change: (lines: string[]) => string[]): void {
  const path = join(folder, 'current.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  writeFileSync(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

test('records that were appended by two servers after each other verify', async () => {
  const dir = stateDir();
  const folder = logOf(3, dir);
  expect(logOf(2, dir)).toBe(folder);
  await expect(verifyChain(folder)).resolves.toEqual({ records: 5 });
  const texts = [];
  for await (const { text } of recordsOf(folder)) texts.push(text);
  expect(texts).toEqual(['line 1', 'line 2', 'line 3', 'line 1', 'line 2']);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
});

const TAMPERINGS: [string, (lines: string[]) => string[], string][] = [
  ['a changed word', (lines) => lines.map((line) => line.replace('line 2', 'line 9')), 'line 2: changed'],
  ['a line taken out', ([a, , c, d]) => [a!, c!, d!], 'line 2: out of order'],
  ['two lines swapped', ([a, b, c, d]) => [a!, c!, b!, d!], 'line 2: out of order'],
  ['a line twice', ([a, b, c, d]) => [a!, b!, b!, c!, d!], 'line 3: out of order'],
  ['the end cut off', (lines) => lines.slice(0, 2), '2 records are missing at the end'],
  ['all cut off', () => [], '4 records are missing at the end'],
  ['the first cut off', (lines) => lines.slice(1), 'line 1: out of order'],
  ['a line that is not a record', (lines) => [...lines, '{"seq":5}'], 'line 5: not a record'],
  [
    'a hash replaced',
    (lines) => lines.map((line) => line.replace(/"hash":"[0-9a-f]{64}"}$/, `"hash":"${'a'.repeat(64)}"}`)),
    'line 1: changed',
  ],
];

test.each(TAMPERINGS)('tampering is found: %s', async (_, change, fault) => {
  const folder = logOf(4);
  edit(folder, change);
  expect((await verifyChain(folder)).fault).toContain(fault);
});

test('a truncated log is still detected after a server has appended to it', async () => {
  const dir = stateDir();
  const folder = logOf(4, dir);
  edit(folder, (lines) => lines.slice(0, 2));
  logOf(3, dir);
  expect((await verifyChain(folder)).fault).toBe('current.jsonl line 3: out of order');
});

test('a log without its head file does not verify', async () => {
  const folder = logOf(2);
  rmSync(join(folder, 'head'));
  expect((await verifyChain(folder)).fault).toContain('head is missing');
});

test('appends after a record that a killed server wrote past its head; reports a torn record', async () => {
  const dir = stateDir();
  const folder = logOf(3, dir);
  const head = join(folder, 'head');
  const before = readFileSync(head);
  logOf(1, dir);
  writeFileSync(head, before);
  logOf(1, dir);
  await expect(verifyChain(folder)).resolves.toEqual({ records: 5 });
  appendFileSync(join(folder, 'current.jsonl'), '{"seq":6,"pre');
  logOf(1, dir);
  expect((await verifyChain(folder)).fault).toContain('line 6');
});

test('appends after many records that a killed server wrote past its head', async () => {
  const dir = stateDir();
  const folder = logOf(3, dir);
  const head = readFileSync(join(folder, 'head'));
  const log = AuditLog.open(dir, LIMITS);
  log.append(Array.from({ length: 40 }, () => ({ text: 'x'.repeat(10_000) })));
  log.close();
  writeFileSync(join(folder, 'head'), head);
  logOf(1, dir);
  await expect(verifyChain(folder)).resolves.toEqual({ records: 44 });
});

test('the records of a turn are written at its end, and the last ones when the server closes', async () => {
  const log = AuditLog.open(stateDir(), LIMITS);
  const auditor = new Auditor(log, { mask: new Mask({}), log: silentLog });
  const act = () => auditor.acted('test', { id: 'local:x', kind: 'local', label: 'x' }, {});
  act();
  act();
  await expect(verifyChain(log.folder)).resolves.toEqual({ records: 2 });
  act();
  auditor.close();
  await expect(verifyChain(log.folder)).resolves.toEqual({ records: 3 });
});

test('full files are rotated, the oldest deleted, and the rest verifies', async () => {
  const folder = logOf(50, stateDir(), { maxBytes: 2_000, keep: 2 });
  expect(readdirSync(folder).filter((name) => /^\d+\.jsonl$/.test(name))).toHaveLength(2);
  const { records, fault } = await verifyChain(folder);
  expect(fault).toBeUndefined();
  expect(records).toBeGreaterThan(10);
  rmSync(join(folder, readdirSync(folder).toSorted()[0]!));
  expect((await verifyChain(folder)).fault).toContain('line 1: out of order');
});

test('two servers at once write separate chains', async () => {
  const dir = stateDir();
  const one = AuditLog.open(dir, LIMITS);
  const other = AuditLog.open(dir, LIMITS);
  expect(other.folder).not.toBe(one.folder);
  one.append([{ by: 'one' }]);
  other.append([{ by: 'other' }]);
  one.close();
  other.close();
  for (const { folder } of [one, other]) await expect(verifyChain(folder)).resolves.toEqual({ records: 1 });
});

test('arguments show what a call is about and never what a file holds', () => {
  const mask = new Mask({ DEPLOY_TOKEN: 'tok-planted-1', HOME: '/home/dev' });
  const subject = { paths: ['files[].path'], program: 'command' };
  const payload = {
    files: [{ path: 'src/a.ts', content: 'planted-2', overwrite: true }],
    command: 'curl',
    args: ['-H', 'Authorization: tok-planted-1'],
    env: { PASSWORD: 'planted-3' },
    stdin: 'planted-4',
    'key tok-planted-1': 1,
  };
  const shown = mask.arguments(payload, shownFields(subject));
  expect(JSON.stringify(shown)).not.toContain('planted');
  expect(shown).toEqual({
    files: [{ path: 'src/a.ts', content: '(9 characters)', overwrite: true }],
    command: 'curl',
    args: ['-H', 'Authorization: ***'],
    env: { PASSWORD: '(9 characters)' },
    stdin: '(9 characters)',
    'key ***': 1,
  });
});

test('recorded arguments have a maximum size', () => {
  const mask = new Mask({});
  const deep = { a: { b: { c: { d: { e: 1 } } } } };
  const payload = { args: Array(10_000).fill('x'.repeat(10_000)), deep };
  expect(JSON.stringify(mask.arguments(payload, shownFields(undefined))).length).toBeLessThan(12_000);
});

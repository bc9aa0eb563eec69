/**
 * No call, however large, keeps everything else in the process waiting.
 *
 * The longest turn of the event loop is taken while a function works at its limits, in processor time where the system
 * tells it, so that a busy machine does not count. Any of these in one go would take several times the bound.
 */
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';

import { expect, test } from 'vitest';

import { filesystemCases, tempDir } from '#testing';
import { edit } from './functions/edit.ts';
import { ls } from './functions/ls.ts';
import { openFilesystem } from './worker.ts';

const LONGEST_MS = 150;
const MIB = 1 << 20;
const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`;

const call = filesystemCases(openFilesystem, 'descriptor');

test('list a hundred thousand files', async () => {
  await using dir = await tempDir({ 'ws/': '' });
  for (let i = 0; i < 100_000; i++) closeSync(openSync(dir.path(`ws/${i}`), 'w'));
  const { reply, longestMs } = await measure(() => call(ls, dir, { max_results: 100_000 }));
  expect(reply).toMatchObject({ data: { count: 100_000, truncated: false } });
  expect(longestMs).toBeLessThan(LONGEST_MS);
}, 120_000);

test.each([
  ['every place of one long line', 'a'.repeat(100_000) + 'x'.repeat(10 * MIB), 'a', 'b\n', 100_000],
  ['every line', 'a\r\n'.repeat(100_000), 'a', 'b\n', 100_000],
  ['one place of a large file', `${'x\n'.repeat(5 * MIB)}a`, 'a', 'b', 1],
  ['what begins alike everywhere', 'a'.repeat(2 * MIB), `${'a'.repeat(10_000)}b${'a'.repeat(10_000)}`, '', undefined],
])(
  'edit %s',
  async (_, content, old_string, new_string, replacements) => {
    await using dir = await tempDir({ 'ws/f': content });
    const { reply, longestMs } = await measure(() => call(edit, dir, { path: 'f', old_string, new_string, count: 0 }));
    expect(reply.data?.replacements).toBe(replacements);
    expect(longestMs).toBeLessThan(LONGEST_MS);
  },
  60_000,
);

test('an edit that would become too large costs no memory', async () => {
  await using dir = await tempDir({ 'ws/f': 'a\n'.repeat(50_000) });
  const payload = { path: 'f', old_string: 'a', new_string: 'x\n'.repeat(MIB), count: 0 };
  expect(await call(edit, dir, payload, { max_file_size: '10MB' })).toEqual({
    success: false,
    error: expect.stringContaining(`f is ${50_000 * (2 * MIB + 1)} bytes; max_file_size is `),
    metadata: { code: 'F213' },
  });
  expect(statSync(dir.path('ws/f')).size).toBe(100_000);
}, 30_000);

/** What it answers, and the longest turn of the event loop meanwhile. */
async function measure<T>(work: () => Promise<T>): Promise<{ reply: T; longestMs: number }> {
  let longestMs = 0;
  let since = usedMs();
  const note = () => {
    const now = usedMs();
    longestMs = Math.max(longestMs, now - since);
    since = now;
  };
  let next: NodeJS.Immediate;
  const turn = () => {
    note();
    next = setImmediate(turn);
  };
  next = setImmediate(turn);
  try {
    const reply = await work();
    note();
    return { reply, longestMs };
  } finally {
    clearImmediate(next);
  }
}

/** What this thread has had of a processor; without /proc the time that has passed. */
function usedMs(): number {
  return existsSync(MAIN_THREAD) ? Number.parseInt(readFileSync(MAIN_THREAD, 'latin1'), 10) / 1e6 : performance.now();
}

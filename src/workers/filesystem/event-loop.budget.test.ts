/**
 * No call, however large, keeps everything else in the process waiting.
 *
 * The longest turn of the event loop is taken while a function works at its limits, in processor time where the system
 * reports it, so that a busy machine does not count. Any of these without yielding would take several times the bound.
 */
import { closeSync, openSync, statSync } from 'node:fs';

import { expect, test } from 'vitest';

import { answer, CallControl, parseConfig, silentLog, type FunctionDef } from '#contract';
import { tempDir, watchTurns, type ActionReply, type TempDir } from '#testing';
import { edit } from './functions/edit.ts';
import { insert } from './functions/insert.ts';
import { ls } from './functions/ls.ts';
import { filesystem } from './index.ts';
import { openFilesystem, type FilesystemContext } from './worker.ts';

const LONGEST_MS = 150;
const MIB = 1 << 20;

test('filesystem.P9 list a hundred thousand files', async () => {
  await using dir = await tempDir({ 'ws/': '' });
  for (let i = 0; i < 100_000; i++) closeSync(openSync(dir.path(`ws/${i}`), 'w'));
  const { reply, longestMs } = await call(ls, dir, { max_results: 100_000 });
  expect(reply).toMatchObject({ data: { count: 100_000, truncated: false } });
  expect(longestMs).toBeLessThan(LONGEST_MS);
}, 120_000);

test.each([
  ['every place of one long line', 'a'.repeat(100_000) + 'x'.repeat(10 * MIB), 'a', 'b\n', 100_000],
  ['every line', 'a\r\n'.repeat(100_000), 'a', 'b\n', 100_000],
  ['one place of a large file', `${'x\n'.repeat(5 * MIB)}a`, 'a', 'b', 1],
  ['what begins alike everywhere', 'a'.repeat(2 * MIB), `${'a'.repeat(10_000)}b${'a'.repeat(10_000)}`, '', undefined],
  ['more lines than there are', '\r\n', '\n'.repeat(8 * MIB), '', undefined],
  ['a line for many', 'a\r\n', 'a', '\n'.repeat(8 * MIB), 1],
])(
  'filesystem.P9 edit %s',
  async (_, content, old_string, new_string, replacements) => {
    await using dir = await tempDir({ 'ws/f': content });
    const { reply, longestMs } = await call(edit, dir, { path: 'f', old_string, new_string, count: 0 });
    expect(reply.data?.replacements).toBe(replacements);
    expect(longestMs).toBeLessThan(LONGEST_MS);
  },
  60_000,
);

test('insert many lines into a file with CRLF', async () => {
  await using dir = await tempDir({ 'ws/f': 'a\r\n' });
  const content = '\n'.repeat(8 * MIB);
  const { reply, longestMs } = await call(insert, dir, { path: 'f', line: 1, content });
  expect(reply).toMatchObject({ data: { lines_inserted: 8 * MIB } });
  expect(longestMs).toBeLessThan(LONGEST_MS);
}, 60_000);

test('an edit that would become too large costs no memory', async () => {
  await using dir = await tempDir({ 'ws/f': 'a\n'.repeat(50_000) });
  const payload = { path: 'f', old_string: 'a', new_string: 'x\n'.repeat(MIB), count: 0 };
  const { reply } = await call(edit, dir, payload, { max_file_size: '10MB' });
  expect(reply).toEqual({
    success: false,
    error: expect.stringContaining(`f is ${50_000 * (2 * MIB + 1)} bytes; max_file_size is `),
    metadata: { code: 'F213' },
  });
  expect(statSync(dir.path('ws/f')).size).toBe(100_000);
}, 30_000);

/** The answer, and the longest turn of the event loop meanwhile. */
async function call(fn: FunctionDef<FilesystemContext>, dir: TempDir, payload: object, config: object = {}) {
  const given = { paths: [dir.path('ws')], fsync: false, ...config };
  const context = openFilesystem(parseConfig(filesystem.config, given, 'filesystem'), silentLog);
  const surroundings = { bus: undefined as never, log: silentLog, control: new CallControl() };
  const longestTurn = watchTurns();
  const reply = await answer({ def: filesystem, context }, fn, { callId: '1', payload }, surroundings);
  const longestMs = longestTurn();
  await filesystem.close(context);
  return { reply: (reply as { result: ActionReply }).result, longestMs };
}

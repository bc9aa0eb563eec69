import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { promisify } from 'node:util';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { FileFault } from '../files/file-fault.ts';
import { RegexError, RegexThreads, ReplacementError } from './index.ts';

const never = { signal: new AbortController().signal };
const text = (content: string) => Buffer.from(content);

/** Each match reads to the end of the text: minutes of work. */
const SLOW = { pattern: '.*[^A-Z]|[A-Z]', text: Buffer.alloc(400_000, 'A'), replacement: '' };
const QUICK = { pattern: 'b', text: text('abc'), replacement: 'B' };

let threads: RegexThreads;
beforeEach(() => {
  threads = new RegexThreads();
});
afterEach(() => threads.close());

/** Work that ends when the test decides, and then fails with a given reason. */
function slowWork() {
  const controller = new AbortController();
  const reason = new Error('not wanted any more');
  const outcome = threads.replace(SLOW, controller).catch((error: unknown) => error);
  return { outcome, reason, stop: () => controller.abort(reason) };
}

test('replaces, counts, and returns the spans', async () => {
  const task = { pattern: '(é)b', text: text('éb aéb éb'), replacement: '[$1]', limit: 2, maxSpans: 5 };
  expect(await threads.replace(task, never)).toEqual({
    bytes: new Uint8Array(text('[é] a[é] éb')),
    count: 2,
    spans: [
      { before: { start: 0, end: 3 }, after: { start: 0, end: 4 } },
      { before: { start: 5, end: 8 }, after: { start: 6, end: 10 } },
    ],
  });
});

test('a text without a match is returned as the same object', async () => {
  const task = { pattern: 'x', text: text('abc'), replacement: '' };
  const { bytes, ...rest } = await threads.replace(task, never);
  expect(bytes).toBe(task.text);
  expect(rest).toEqual({ count: 0, spans: [] });
});

test('lines are replaced one by one wherever a long text is cut', async () => {
  const lines = Array.from({ length: 200_000 }, (_, i) => `a${'x'.repeat(i % 37)}a${i % 3 ? '' : '\r'}`);
  lines[100_000] = `${'a'.repeat(2_000_000)}`;
  const task = { pattern: 'a$', text: text(lines.join('\n')), replacement: 'b', unit: 'line' } as const;
  const { bytes, count } = await threads.replace(task, never);
  expect(count).toBe(lines.length);
  const expected = lines.map((line) => line.replace(/a(\r?)$/, 'b$1')).join('\n');
  expect(Buffer.from(bytes).equals(text(expected))).toBe(true);
});

test.each([
  ['all lines together', 'line', 'a\n'.repeat(100)],
  ['one line', 'line', 'a'.repeat(100)],
  ['the text', 'text', 'a\n'.repeat(100)],
] as const)('%s may not grow beyond the limit', async (_, unit, content) => {
  const size = content.length + 100 * 9;
  const task = { pattern: 'a', text: text(content), replacement: '0123456789', unit };
  expect((await threads.replace({ ...task, maxBytes: size }, never)).bytes.length).toBe(size);
  await expect(threads.replace({ ...task, maxBytes: size - 1 }, never)).rejects.toEqual(
    new FileFault('too-large', `with its replacements the text is larger than ${size - 1} bytes`),
  );
});

test('lines have a limit even if none is given', async () => {
  const task = { pattern: 'a', text: text('a\n'.repeat(70)), replacement: 'x'.repeat(2 ** 20), unit: 'line' } as const;
  await expect(threads.replace(task, never)).rejects.toMatchObject({ reason: 'too-large' });
});

test('texts of any size are returned whole', async () => {
  for (const length of [0, 1, 5000, 3 << 20]) {
    const { bytes, count } = await threads.replace(
      { pattern: 'a', text: Buffer.alloc(length, 'ab'), replacement: 'ä' },
      never,
    );
    expect([length, count, Buffer.from(bytes).equals(text('äb'.repeat(length).slice(0, length)))]).toEqual([
      length,
      Math.ceil(length / 2),
      true,
    ]);
  }
});

test.each([
  ['a match ends with its line', { pattern: 'a\\s+b', text: text('a\nb\na b\n') }, 'a\nb\nX\n', 1],
  ['$ is the end of the line, before its ending', { pattern: '\\s*$', text: text('a \na\r\na') }, 'aX\naX\r\naX', 3],
  ['the limit is one for each line', { pattern: 'a', text: text('aa\r\nb\naa'), limit: 1 }, 'Xa\r\nb\nXa', 2],
  ['nothing in any line', { pattern: 'z', text: text('a\nb') }, 'a\nb', 0],
])('by line: %s', async (_, task, after, count) => {
  const replaced = await threads.replace({ ...task, replacement: 'X', unit: 'line' }, never);
  expect([Buffer.from(replaced.bytes).toString(), replaced.count]).toEqual([after, count]);
});

test('finds the first match, or none', async () => {
  expect(await threads.find({ pattern: 'B', ignoreCase: true, text: text('éb') }, never)).toEqual({ start: 2, end: 3 });
  expect(await threads.find({ pattern: 'x', text: text('éb') }, never)).toBeUndefined();
});

test.each([
  [{ ...QUICK, pattern: '(a' }, new RegexError('(a', 'unclosed group at character 1')],
  [{ ...QUICK, replacement: '$1' }, new ReplacementError('$1', 'b', 'write $$ for a dollar sign')],
  [{ ...QUICK, text: Buffer.of(0xff) }, new RegexError('b', 'the text to replace in is not UTF-8')],
])('an error is rethrown with its class and message', async (task, error) => {
  await expect(threads.replace(task, never)).rejects.toThrow(error);
  expect(threads.size).toBe(1);
});

describe('a slow pattern', () => {
  test('coder.P17 blocks neither this thread nor other tasks', async () => {
    const slow = slowWork();
    expect(await threads.replace(QUICK, never)).toMatchObject({ count: 1 });
    slow.stop();
    expect(await slow.outcome).toBe(slow.reason);
  });

  test('coder.P17 ends when its caller cancels, and a new thread replaces it', async () => {
    const slow = slowWork();
    await new Promise((resolve) => setTimeout(resolve, 50));
    slow.stop();
    expect(await slow.outcome).toBe(slow.reason);
    expect(threads.size).toBe(0);
    expect(await threads.replace(QUICK, never)).toMatchObject({ count: 1 });
  });

  test('in every thread makes other tasks wait, which can be cancelled too', async () => {
    const slow = Array.from({ length: 8 }, slowWork);
    const waiting = slowWork();
    const quick = threads.replace(QUICK, never);
    waiting.stop();
    expect(await waiting.outcome).toBe(waiting.reason);
    expect(threads.size).toBeLessThanOrEqual(4);

    for (const { stop } of slow) stop();
    expect(await quick).toMatchObject({ count: 1 });
  });
});

test('one thread serves one caller after the other, and leaves no listener on the signal', async () => {
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) await threads.replace(QUICK, { signal });
  expect(threads.size).toBe(1);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a caller that cancelled before is refused without work', async () => {
  const reason = new Error('gone');
  await expect(threads.replace(SLOW, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(threads.size).toBe(0);
});

test('closing fails running, waiting and later tasks', async () => {
  const works = Array.from({ length: 8 }, slowWork);
  await threads.close();
  const outcomes = await Promise.all(works.map(({ outcome }) => outcome));
  expect(outcomes).toEqual(works.map(() => new Error('the regex threads were closed')));
  await expect(threads.replace(QUICK, never)).rejects.toThrow('the regex threads were closed');
  expect(threads.size).toBe(0);
});

test('an idle thread does not keep the process alive', async () => {
  const built = new URL('../../../dist/host/regex/index.js', import.meta.url);
  const program = `
    import { RegexThreads } from ${JSON.stringify(built.href)};
    const task = { pattern: 'b', text: Buffer.from('abc'), replacement: 'B' };
    const { bytes } = await new RegexThreads().replace(task, new AbortController());
    process.stdout.write(bytes);
  `;
  await using dir = await tempDir({ 'program.mjs': program });
  const running = promisify(execFile)(process.execPath, [dir.path('program.mjs')], { timeout: 30_000 });
  expect(await running).toMatchObject({ stdout: 'aBc' });
});

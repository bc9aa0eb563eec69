/** The text that a model gets for an answer, and for a failure. */
import { expect, test } from 'vitest';

import { CallError } from '#contract';
import { KeptResults } from './kept-results.ts';
import { toFileResult, toToolFailure, toToolResult, type ResultOptions } from './results.ts';

const kept = new KeptResults();
const resultOf = (value: unknown, options: Partial<ResultOptions> = {}) =>
  toToolResult(value, { kept, isFailure: false, isStructured: false, ...options });
const text = (...lines: string[]) => [{ type: 'text', text: lines.join('\n') }];

test('a failure is text alone: code, message, what helps, and the next step last', () => {
  const failure = {
    code: 'S217',
    message: 'not empty',
    fix: { recursive: true },
    fix_note: 'Or empty it.',
    path: '/a',
    docs_url: '/docs/errors#s217',
  };
  const error = new CallError('shell::fs::rm', { code: 'invocation_failed', message: JSON.stringify(failure) });
  expect(toToolFailure(error, { kept })).toEqual({
    isError: true,
    content: text(
      'S217: not empty',
      'path: /a',
      'fix, the next request, ready to send: {"recursive":true}',
      'Or empty it.',
    ),
  });
});

test('a fix does not repeat the long fields that the model sent, unless they changed', () => {
  const content = 'x'.repeat(10_000);
  const fix = { path: '/a/b', content, note: 'y'.repeat(300), parents: true };
  const failure = JSON.stringify({ code: 'S211', message: 'no parent', fix });
  const error = new CallError('sandbox::fs::write', { code: 'invocation_failed', message: failure });
  const { parents: _, ...request } = fix;
  expect(toToolFailure(error, { kept, request }).content).toEqual(
    text('S211: no parent', 'fix, the next request: {"path":"/a/b","parents":true}, with content, note as sent before'),
  );
  const changed = toToolFailure(error, { kept, request: { ...request, content: 'z' } }).content;
  expect(JSON.stringify(changed)).toContain(content);
});

test('a failure in a result is shown like any other, with what it found', () => {
  const value = {
    success: false,
    error: 'old_string is not in /a',
    metadata: {
      code: 'F219',
      closest: [
        { line: 3, text: 'x' },
        { line: 9, text: 'y' },
      ],
    },
  };
  expect(resultOf(value, { isFailure: true, isStructured: true })).toEqual({
    isError: true,
    content: text('F219: old_string is not in /a', 'closest: 2, as line | text', '3 | x', '9 | y'),
  });
});

test.each([
  ['a map', { a: 1, text: 'x\ny' }, ['a: 1', 'text:', 'x', 'y']],
  ['a text', 'hello', ['hello']],
  ['nothing', undefined, ['null']],
  ['data in its wrapper', { success: true, data: { path: '/a', content: '1\n2' } }, ['path: /a', 'content:', '1', '2']],
  [
    'rows of one shape',
    {
      matches: [
        { path: 'a', line: 1, text: 'x | y' },
        { path: 'b', line: 2, text: 'z' },
      ],
    },
    ['matches: 2, as path | line | text', 'a | 1 | x | y', 'b | 2 | z'],
  ],
  [
    'a long line after what is short',
    { text: 'x'.repeat(2000), size: 2000 },
    ['size: 2000', 'text:', 'x'.repeat(2000)],
  ],
  ['rows of different shapes', { rows: [{ a: 1 }, { b: 2 }] }, ['rows: 2', '- {"a":1}', '- {"b":2}']],
  [
    'long text in rows',
    { changes: [{ op: 1, content: 'x\ny' }] },
    ['changes: 1', '- op: 1', '  content:', '  x', '  y'],
  ],
])('%s is given as text', (_, value, lines) => {
  expect(resultOf(value)).toEqual({ content: text(...lines) });
});

test('mcp.P8 structured content comes only when asked for, beside the text', () => {
  const value = { a: 1 };
  expect(resultOf(value, { isStructured: true })).toEqual({ content: text('a: 1'), structuredContent: value });
  expect(resultOf('text', { isStructured: true })).toEqual({ content: text('text') });
});

const item = (path: string, error?: unknown) =>
  error === undefined ? { path, success: true } : { path, success: false, error };
const missing = JSON.stringify({ code: 'C211', message: 'b does not exist', fix: { path: 'c' } });

test('failed items of a batch are shown first and as text, and a batch that failed whole is a failure', () => {
  const some = { results: [item('a'), item('b', missing), item('c', 'not UTF-8')] };
  expect(resultOf(some, { itemList: 'results' })).toEqual({
    content: text(
      'FAILED: 2 of 3',
      '- b: C211: b does not exist',
      '  fix, the next request, ready to send: {"path":"c"}',
      '- c: not UTF-8',
      'results: 1',
      '- {"path":"a","success":true}',
    ),
  });
  expect(resultOf({ results: [item('b', missing)] }, { itemList: 'results', isStructured: true })).toEqual({
    isError: true,
    content: text(
      'FAILED: 1 of 1',
      '- b: C211: b does not exist',
      '  fix, the next request, ready to send: {"path":"c"}',
    ),
  });
  expect(resultOf({ results: [item('a')] }, { itemList: 'results' })).toEqual({
    content: text('results: 1', '- {"path":"a","success":true}'),
  });
});

test('a long text is cut, and the whole is kept where the link says', () => {
  const { content } = resultOf('é'.repeat(50_000));
  const [shown, link] = content as unknown as [{ text: string }, { uri: string; size: number }];
  expect(shown.text).toMatch(
    /^é{32768}\n… cut after 65536 of 100000 bytes; ask for less, or read on at workcell:\S+\?from=65536$/,
  );
  expect(link).toMatchObject({ type: 'resource_link', size: 100_000 });
  expect(kept.read(`${link.uri}?from=65536`)).toEqual({
    text: 'é'.repeat(17_232),
    from: 65_536,
    to: 100_000,
    total: 100_000,
  });
  // In the middle of a character: the range begins with that character.
  expect(kept.read(`${link.uri}?from=3&to=5`)).toMatchObject({ text: 'é', from: 2, to: 4 });
});

test('mcp.P8 no message comes near the ten megabytes at which clients stop', () => {
  const huge = { content: 'a\n'.repeat(6_000_000) };
  for (const isStructured of [true, false]) {
    const result = resultOf(huge, { isStructured });
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
    expect(result.isError ?? false).toBe(isStructured);
  }
  const failure = new CallError('x', { code: 'X', message: 'a'.repeat(12_000_000) });
  expect(JSON.stringify(toToolFailure(failure, { kept })).length).toBeLessThan(100_000);
});

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

test('mcp.P8 an image is an image, wherever it comes from', () => {
  const image = { type: 'image', data: png.toString('base64'), mimeType: 'image/png' };
  const reported = { type: 'text', text: 'size: 16' };
  const value = { content: '', size: 16, image: { mime_type: 'image/png', base64: png.toString('base64') } };
  expect(resultOf(value)).toEqual({ content: [reported, image] });
  expect(resultOf({ success: true, data: value })).toEqual({ content: [reported, image] });
  expect(toFileResult({ rest: { size: 16 }, bytes: png }, kept)).toEqual({ content: [reported, image] });
});

test.each([
  ['text', Buffer.from('a\nb'), 'a\nb'],
  ['other bytes', Buffer.from([0xff, 0xfe]), 'not text: 2 bytes, not shown'],
  [
    'an image that is too large',
    Buffer.concat([png, Buffer.alloc(4e6)]),
    'not text: 4000016 bytes of image/png, not shown',
  ],
])('a file of %s that came through a channel', (_, bytes, shown) => {
  const rest = { size: bytes.length, body: 'shown once only' };
  expect(toFileResult({ rest, bytes }, kept)).toEqual({ content: text(`size: ${bytes.length}`, 'content:', shown) });
});

/** What a model gets of an answer, and of a failure. */
import { expect, test } from 'vitest';

import { CallError } from '#contract';
import { KeptResults } from './kept-results.ts';
import { toToolFailure, toToolResult } from './results.ts';

test('a failure has its code, its message and what to do about it, for programs and as text', () => {
  const failure = {
    code: 'S217',
    message: 'not empty',
    fix: { recursive: true },
    fix_note: 'Or empty it.',
    path: '/a',
  };
  const error = new CallError('shell::fs::rm', { code: 'invocation_failed', message: JSON.stringify(failure) });
  expect(toToolFailure(error)).toEqual({
    isError: true,
    content: [
      { type: 'text', text: 'S217: not empty\nfix, to merge into the request: {"recursive":true}\nOr empty it.' },
    ],
    structuredContent: { error: { code: 'S217', message: 'not empty', fix: { recursive: true }, path: '/a' } },
  });
});

test.each([
  ['a map', { a: 1, text: 'x\ny' }, { content: [{ type: 'text', text: 'a: 1\ntext:\nx\ny' }] }],
  ['a text', 'hello', { content: [{ type: 'text', text: 'hello' }] }],
  ['nothing', undefined, { content: [{ type: 'text', text: 'null' }] }],
])('%s is given as text, and as structured content where that can be', (_, value, expected) => {
  const structured = typeof value === 'object' ? { structuredContent: value } : {};
  expect(toToolResult(value, { kept: new KeptResults(), isFailure: false })).toEqual({ ...expected, ...structured });
});

test('a long text is cut, and the whole is kept where the link says', () => {
  const kept = new KeptResults();
  const text = 'é'.repeat(50_000);
  const { content } = toToolResult(text, { kept, isFailure: true });
  const [shown, link] = content as unknown as [{ text: string }, { uri: string; size: number }];
  expect(shown.text).toMatch(/^é{32768}\n… cut after 65536 of 100000 bytes; read on at workcell:\S+\?from=65536$/);
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

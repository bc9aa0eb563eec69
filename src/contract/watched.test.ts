import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { CallEvent } from '#protocol';
import type { CallScope } from './call-scope.ts';
import { Watched } from './watched.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watch(watched: Watched, left = new AbortController()) {
  const heard: CallEvent[] = [];
  const scope = { emit: (event: CallEvent) => heard.push(event), signal: left.signal };
  return { heard, left, over: watched.report(scope as unknown as CallScope) };
}

test('each watcher gets each batch of changes once, and none after it left', async () => {
  const watched = new Watched();
  const [one, two] = [watch(watched), watch(watched)];
  for (const what of ['a', 'b', 'a']) watched.changed(what);
  expect([one.heard, vi.getTimerCount()]).toEqual([[], 1]);
  vi.advanceTimersByTime(100);
  one.left.abort();
  expect(await one.over).toEqual({});
  watched.changed('c');
  vi.advanceTimersByTime(100);
  const first = { type: 'changed', what: ['a', 'b'] };
  expect([one.heard, two.heard]).toEqual([[first], [first, { type: 'changed', what: ['c'] }]]);
});

test('changes are not collected without a watcher', async () => {
  const watched = new Watched();
  watched.changed('before');
  expect(vi.getTimerCount()).toBe(0);
  const { left, over } = watch(watched);
  left.abort();
  await over;
  watched.changed('after');
  expect(vi.getTimerCount()).toBe(0);
});

test('a watch whose caller has already left ends at once', async () => {
  const left = new AbortController();
  left.abort();
  expect(await watch(new Watched(), left).over).toEqual({});
});

test('an event reaches matching watchers once, numbered; later ones get those after sinceSeq', async () => {
  const watched = new Watched();
  const left = new AbortController();
  const heard: Record<string, CallEvent[]> = { all: [], some: [], late: [] };
  const scopeOf = (name: string) => ({ emit: (event: CallEvent) => heard[name]!.push(event), signal: left.signal });
  const watchers = [
    watched.report(scopeOf('all') as unknown as CallScope),
    watched.report(scopeOf('some') as unknown as CallScope, { wants: ({ id }) => id === 'a' }),
  ];
  for (const id of ['a', 'b', 'a']) watched.happened('ended', { id });
  watchers.push(watched.report(scopeOf('late') as unknown as CallScope, { sinceSeq: 1 }));
  watched.happened('ended', { id: 'b' });
  left.abort();
  await Promise.all(watchers);
  watched.happened('ended', { id: 'a' });
  const numbers = Object.entries(heard).map(([name, events]) => [name, events.map(({ seq }) => seq)]);
  expect(Object.fromEntries(numbers)).toEqual({ all: [1, 2, 3, 4], some: [1, 3], late: [2, 3, 4] });
  expect(heard.all![0]).toEqual({ type: 'ended', seq: 1, at_ms: Date.now(), id: 'a' });
});

test('keeps the newest 256 events', async () => {
  const watched = new Watched();
  for (let n = 0; n < 300; n++) watched.happened('ended', {});
  const left = new AbortController();
  left.abort();
  const heard: CallEvent[] = [];
  const scope = { emit: (event: CallEvent) => heard.push(event), signal: left.signal };
  await watched.report(scope as unknown as CallScope, { sinceSeq: 0 });
  expect([heard.length, heard[0]!.seq, heard.at(-1)!.seq]).toEqual([256, 45, 300]);
});

import { expect, test } from 'vitest';

import { SharedWork } from './shared-work.ts';

const never = new AbortController().signal;

test('does the work once for all who ask at the same time, and tells all of them how far it is', async () => {
  const shared = new SharedWork<number, string>();
  let starts = 0;
  const seen: string[] = [];
  const ask = (who: string) =>
    shared.do('key', { signal: never, onProgress: (progress) => seen.push(`${who} ${progress}`) }, async (_, tell) => {
      tell('begun');
      return ++starts;
    });
  expect(await Promise.all([ask('a'), ask('b')])).toEqual([1, 1]);
  expect(seen).toEqual(['a begun', 'b begun']);
  expect(await ask('c')).toBe(2);
});

test('goes on when one of two leaves, and is given up when the last one does', async () => {
  const shared = new SharedWork<void, never>();
  const [first, second] = [new AbortController(), new AbortController()];
  let given: AbortSignal | undefined;
  const work = (signal: AbortSignal) => {
    given = signal;
    return new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  };
  const a = shared.do('key', { signal: first.signal }, work);
  const b = shared.do('key', { signal: second.signal }, work);

  first.abort();
  await expect(a).rejects.toThrow(/abort/);
  expect(given?.aborted).toBe(false);
  second.abort();
  await expect(b).rejects.toThrow(/abort/);
  expect(given?.aborted).toBe(true);
});

import { expect, test } from 'vitest';

import { SharedWork } from './shared-work.ts';

const never = new AbortController().signal;

test('callers that ask at the same time share the work, and each gets its progress', async () => {
  const shared = new SharedWork<number, string>();
  let starts = 0;
  const seen: string[] = [];
  const ask = (caller: string) =>
    shared.do(
      'key',
      { signal: never, onProgress: (progress) => seen.push(`${caller} ${progress}`) },
      async (_, report) => {
        report('begun');
        return ++starts;
      },
    );
  expect(await Promise.all([ask('a'), ask('b')])).toEqual([1, 1]);
  expect(seen).toEqual(['a begun', 'b begun']);
  expect(await ask('c')).toBe(2);
});

test('the work continues when one of two callers aborts, and is aborted with the last one', async () => {
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

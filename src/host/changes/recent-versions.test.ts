import { expect, test } from 'vitest';

import { versionOf } from './jail-version.ts';
import { RecentVersions } from './recent-versions.ts';

const text = (fill: string, length: number) => Buffer.alloc(length, fill);

test('a version is returned only for exactly the bytes it was kept for', async () => {
  const versions = new RecentVersions();
  const content = text('a', 100_000);
  versions.keep('f', content, 'kept');
  expect(await versions.of('f', Buffer.from(content))).toBe('kept');
  for (const at of [0, 50_000, 99_999]) {
    const other = Buffer.from(content);
    other[at] = 1;
    expect(await versions.of('f', other)).toBe(versionOf(other));
  }
  for (const other of [content.subarray(1), text('a', 100_001)])
    expect(await versions.of('f', other)).toBe(versionOf(other));
  expect(await versions.of('g', content)).toBe(versionOf(content));
});

test('the content is copied, a later one replaces it, and memory is bounded', async () => {
  const versions = new RecentVersions();
  const content = text('a', 100_000);
  versions.keep('f', content, 'first');
  const first = Buffer.from(content);
  content.fill('b');
  expect(await versions.of('f', first)).toBe('first');
  versions.keep('f', content, 'second');
  expect(await versions.of('f', first)).toBe(versionOf(first));
  expect(await versions.of('f', content)).toBe('second');
  for (let i = 0; i < 50; i++) versions.keep(`g${i}`, content, 'other');
  expect(await versions.of('f', content)).toBe(versionOf(content));
  versions.keep('small', text('s', 10), 'kept');
  expect(await versions.of('small', text('s', 10))).toBe(versionOf(text('s', 10)));
});

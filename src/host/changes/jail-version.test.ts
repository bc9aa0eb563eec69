import { createHash } from 'node:crypto';

import { expect, test } from 'vitest';

import { versionAside, versionOf } from './jail-version.ts';

test.each([0, 1, (1 << 20) - 1, 1 << 20, 3_000_000])(
  'the version of %i bytes is their SHA-256, on this thread and on another',
  async (size) => {
    const bytes = Buffer.alloc(size, 'some text\n');
    const version = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    expect([versionOf(bytes), await versionAside(bytes)]).toEqual([version, version]);
  },
);

test('the version of a subarray covers only its own bytes', async () => {
  const whole = Buffer.alloc(2_000_000, 'some text\n');
  const part = whole.subarray(5, 1_600_005);
  expect(await versionAside(part)).toBe(versionOf(Buffer.from(part)));
});

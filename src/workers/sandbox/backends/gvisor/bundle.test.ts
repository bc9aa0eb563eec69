import { expect, test } from 'vitest';

import { maxFileMb, runtimeConfig } from './bundle.ts';

test.each([
  ['small ones share a step', { memoryMb: 48, diskMb: 16 }, 1024, 912],
  ['the default', { memoryMb: 512, diskMb: 1024 }, 1024, 448],
  ['memory that fills a step needs another', { memoryMb: 1024, diskMb: 16 }, 2048, 960],
  ['a disk that is larger than the memory may hold a file of its size', { memoryMb: 512, diskMb: 5000 }, 5120, 4544],
])('%s', (_, size, largestFileMb, ioMb) => {
  expect(maxFileMb(size)).toBe(largestFileMb);
  expect(runtimeConfig({ id: 'x', ...size })).toMatchObject({
    process: { args: ['/tmp/.agent', '--io', String(ioMb)] },
  });
});

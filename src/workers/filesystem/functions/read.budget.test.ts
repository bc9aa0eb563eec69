/** Memory of a window of a file of many gigabytes. */
import { truncateSync } from 'node:fs';

import { expect, test } from 'vitest';

import { filesystemCases, tempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { read } from './read.ts';

test.each(['descriptor', 'portable'] as const)('filesystem.P5 little, %s jail', async (mode) => {
  await using dir = await tempDir({ 'ws/huge': 'first\nsecond\nthird\n' });
  truncateSync(dir.path('ws/huge'), 64 * 2 ** 30);
  const call = filesystemCases(openFilesystem, mode);
  const before = process.memoryUsage().rss;
  const reply = await call(read, dir, { path: 'huge', start_line: 2, end_line: 3 }, { max_file_size: '100GB' });
  expect(reply.data).toMatchObject({ content: '     2│second\n     3│third\n' });
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
});

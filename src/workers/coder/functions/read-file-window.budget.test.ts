/** Memory of a window of a file of 1 GiB. */
import { truncateSync } from 'node:fs';

import { expect, test } from 'vitest';

import { run, tempDir } from '#testing';
import { readFile } from './read-file.ts';

test('coder.P15 little, also when the whole file is read to find a line', async () => {
  await using dir = await tempDir({ huge: 'first\nsecond\nthird\n' });
  truncateSync(dir.path('huge'), 2 ** 30);
  const show = (window: object) => run(readFile, { path: 'huge', ...window }, { base_path: dir.root });

  const before = process.memoryUsage().rss;
  expect(await show({ line_from: 2, line_to: 3 })).toMatchObject({ content: 'second\nthird\n' });
  await expect(show({ line_from: 5 })).rejects.toMatchObject({
    message: 'line_from is 5; huge has 4 lines; send a smaller line_from',
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
});

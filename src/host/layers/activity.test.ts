/** Activity of a change on a disk that gets full. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { mayMount, smallDisk, tempDir } from '#testing';
import { LayerActivity } from './activity.ts';
import { LayerError } from './layer.ts';

test.runIf(mayMount())('a full disk refuses commands, says that hosts are missing, and spoils no line', async () => {
  await using dir = await tempDir({ 'disk/': '' });
  using disk = smallDisk(dir.path('disk'), 64 * 1024);
  expect(disk).toBeDefined();
  const path = dir.path('disk/activity.jsonl');
  const activity = new LayerActivity(path);
  activity.ran(['first']);
  const filler = dir.path('disk/filler');
  expect(() => writeFileSync(filler, Buffer.alloc(2 ** 20))).toThrow('ENOSPC');

  const refusals: unknown[] = [];
  // Until the last block of the file is full too.
  for (let at = 0; at < 500 && refusals.length === 0; at++) {
    try {
      activity.ran([`${at}`.padEnd(100, 'x')]);
    } catch (error) {
      refusals.push(error);
    }
  }
  expect(refusals).toEqual([expect.any(LayerError)]);
  expect(String(refusals[0])).toContain('(ENOSPC); free space in state_dir');
  activity.asked(`${'h'.repeat(200)}:443`, 'allowed');
  const { commands, isCut } = activity.read();
  expect([commands[0]?.command, isCut]).toEqual(['first', true]);

  rmSync(filler);
  activity.ran(['last']);
  activity.asked('example.com:443', 'allowed');
  expect(readFileSync(path, 'utf8')).toMatch(/\n$/);
  expect(activity.read()).toMatchObject({ hosts: [{ host: 'example.com:443' }] });
  expect(activity.read().commands.at(-1)?.command).toBe('last');
});

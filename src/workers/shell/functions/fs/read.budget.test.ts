/** Memory of reading a huge file through a channel. */
import { truncateSync } from 'node:fs';

import { expect, test } from 'vitest';

import type { ChannelRef } from '#protocol';
import { rounds, serveWorker, tempDir } from '#testing';
import { shell } from '../../index.ts';

const MiB = 2 ** 20;

/** A gigabyte in the soak. */
const HUGE_BYTES = rounds(192, 192, 1024) * MiB;

test('shell.P13 a huge file costs little memory, and waits for its reader', async () => {
  await using dir = await tempDir({ 'j/f': '' });
  truncateSync(dir.path('j/f'), HUGE_BYTES);
  await using served = await serveWorker(shell, { fs: { host_root: dir.path('j'), max_read_bytes: 0 } });
  const { content } = await served.call<{ content: ChannelRef }>('shell::fs::read', { path: dir.path('j/f') });
  const peer = await served.connect('peer');
  const reader = await peer.openReader(content);
  const before = process.memoryUsage().rss;
  let [count, most] = [0, 0];
  for await (const item of reader) {
    count += item.length;
    if (count % MiB === 0) most = Math.max(most, process.memoryUsage.rss());
  }
  expect(count).toBe(HUGE_BYTES);
  expect((most - before) / MiB).toBeLessThan(96);
}, 120_000);

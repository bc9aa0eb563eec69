import { expect, test, vi } from 'vitest';

import { silentLog } from '#contract';
import { fakeBackend, yes } from '#testing';
import { configSchema } from '../config.ts';
import { Sandboxes } from './sandboxes.ts';

const image = { name: 'box', ref: 'box', digest: 'none', directory: async () => '/', env: [] };
const wanted = {
  name: null,
  shape: { image, cpus: 1, memoryMb: 64, diskMb: 16, network: false },
  idleTimeoutMs: 60_000,
  env: [],
  onGone() {},
};

test.each([
  ['a machine that does not start casts doubt on its backend', {}, false, 1],
  ['a caller that left does not', {}, true, 0],
  ['an image that names an unknown user does not', { user: 'no-such-user' }, false, 0],
])('%s', async (_, more, hasLeft, doubts) => {
  const doubt = vi.fn();
  const sandboxes = new Sandboxes(configSchema.parse({}), silentLog);
  const shape = { ...wanted.shape, image: { ...image, ...more } };
  const chosen = { backend: fakeBackend('gvisor', yes), doubt };
  const signal = hasLeft ? AbortSignal.abort() : new AbortController().signal;
  try {
    await expect(sandboxes.start(chosen, { ...wanted, shape }, signal)).rejects.toMatchObject({ code: 'S300' });
    expect(doubt).toHaveBeenCalledTimes(doubts);
  } finally {
    await sandboxes.close();
  }
});

/** A caller that disconnects while its sandbox starts: no caller would know the id, so nothing of it may stay. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { silentLog } from '#contract';
import { guestRoot, type TempDir } from '#testing';
import type { SandboxBackend } from '../../../src/workers/sandbox/backends/backend.ts';
import { configSchema } from '../../../src/workers/sandbox/config.ts';
import { Sandboxes } from '../../../src/workers/sandbox/live/sandboxes.ts';
import { backendCache, makeBackend, whyNoBackend } from '../../sandbox-backend.ts';

const whyNot = await whyNoBackend();

describe.skipIf(whyNot !== undefined)(`a caller that goes away${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let real: SandboxBackend;
  beforeAll(async () => {
    [root, cache] = await Promise.all([guestRoot(), backendCache()]);
    real = makeBackend(cache.root);
  });
  afterAll(async () => {
    for (const dir of [root, cache]) await dir[Symbol.asyncDispose]();
  });

  test.each(['before the machine', 'as the agent answers'])('%s leaves no sandbox', async (when) => {
    const control = new AbortController();
    const pids: number[] = [];
    let gone = 0;
    const backend: Pick<SandboxBackend, 'prepare' | 'create'> = {
      prepare: (shape, signal) => real.prepare(shape, signal),
      async create(shape, { id }) {
        const instance = await real.create(shape, { id, signal: new AbortController().signal });
        pids.push(instance.pid!);
        if (when === 'before the machine') control.abort();
        // After the receiver took the greeting.
        else instance.channel.once('data', () => queueMicrotask(() => control.abort()));
        return instance;
      },
    };
    const image = { name: 'box', ref: 'box', digest: 'none', directory: async () => root.root, env: [] };
    const wanted = {
      name: null,
      shape: { image, cpus: 1, memoryMb: 64, diskMb: 16 },
      idleTimeoutMs: 60_000,
      env: [],
      onGone: () => gone++,
    };
    const sandboxes = new Sandboxes(configSchema.parse({}), silentLog);
    try {
      const chosen = { backend: backend as SandboxBackend, doubt() {} };
      await expect(sandboxes.start(chosen, wanted, control.signal)).rejects.toMatchObject({ code: 'S300' });
      expect([sandboxes.all, gone, pids.length]).toEqual([[], 1, 1]);
      expect(() => process.kill(pids[0]!, 0)).toThrow('ESRCH');
    } finally {
      await sandboxes.close();
    }
  });
});

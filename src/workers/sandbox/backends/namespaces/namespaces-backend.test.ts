/** The contract on namespaces, as the user of the tests and, when that is root, also as an ordinary user. */
import { setImmediate } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { guestRoot, machineCache, rounds, whyNoGuestRoot, type TempDir } from '#testing';
import { backendContract } from '../backend.contract.ts';
import type { SandboxBackend, Shape } from '../backend.ts';
import { startMachine } from '../machine.contract.ts';
import { namespacesBackend } from './namespaces-backend.ts';

/** How often a launcher reads the files that the other server may be writing. */
const LAUNCHES = rounds(5, 20, 1_000);

const whyNot = whyNoGuestRoot();

describe.skipIf(whyNot !== undefined)(`namespaces${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let backend: SandboxBackend;
  let shape: Shape;

  beforeAll(async () => {
    root = await guestRoot();
    cache = await machineCache();
    backend = namespacesBackend({ cacheDir: cache.root });
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    shape = { image, cpus: 1, memoryMb: 256, diskMb: 64 };
  });

  afterAll(async () => {
    await root[Symbol.asyncDispose]();
    await cache[Symbol.asyncDispose]();
  });

  test('the probe starts a machine and says what holds it', async () => {
    expect(await backend.probe(AbortSignal.timeout(60_000))).toEqual({
      ok: true,
      detail: expect.stringMatching(/^(ids of its own|the id of this user), limits by (cgroup2|cgroup1|watchdog)$/),
    });
  });

  test('another server that starts over the same cache again and again fails no machine of this one', async () => {
    let isOver = false;
    const restarts = (async () => {
      let count = 0;
      for (; !isOver; count++) {
        await namespacesBackend({ cacheDir: cache.root }).prepare(shape, AbortSignal.timeout(60_000));
        await setImmediate();
      }
      return count;
    })();
    const failures: string[] = [];
    for (let launch = 0; launch < LAUNCHES; launch++) {
      const machine = await startMachine(backend, shape).catch((error: unknown) => void failures.push(String(error)));
      await machine?.[Symbol.asyncDispose]();
    }
    isOver = true;
    expect(await restarts).toBeGreaterThan(LAUNCHES);
    expect(failures).toEqual([]);
  });

  backendContract('namespaces', () => ({ backend, shape }));
});

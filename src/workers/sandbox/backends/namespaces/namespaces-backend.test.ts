/** The contract on namespaces, as whoever runs the tests and, when that is root, as an ordinary user. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { guestRoot, tempDir, whyNoGuestRoot, type TempDir } from '#testing';
import { backendContract } from '../backend.contract.ts';
import type { Shape } from '../backend.ts';
import { NamespacesBackend } from './namespaces-backend.ts';

const whyNot = whyNoGuestRoot();

describe.skipIf(whyNot !== undefined)(`namespaces${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let backend: NamespacesBackend;
  let shape: Shape;

  beforeAll(async () => {
    root = await guestRoot();
    cache = await tempDir();
    backend = new NamespacesBackend({ cacheDir: cache.root });
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', rootDir: root.root, env: [] };
    shape = { image, cpus: 1, memoryMb: 256, diskMb: 64 };
  });

  afterAll(async () => {
    await root[Symbol.asyncDispose]();
    await cache[Symbol.asyncDispose]();
  });

  test('the probe starts a machine and says what holds it', async () => {
    expect(await backend.probe(AbortSignal.timeout(20_000))).toEqual({
      ok: true,
      isolation: 'namespaces',
      detail: expect.stringMatching(/^(ids of its own|the id of this user), limits by (cgroup2|cgroup1|rlimits)$/),
    });
  });

  backendContract('namespaces', () => ({ backend, shape }));
});

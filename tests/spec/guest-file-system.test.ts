/** The files of a guest pass the same suite as those of the host. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { HostError } from '#host';
import type { Change } from '#protocol';
import { guestRoot, type TempDir } from '#testing';
import { describeFileSystem } from '../../src/host/files/file-system.contract.ts';
import { sharedMachine } from '../../src/workers/sandbox/backends/machine.contract.ts';
import { backendCache, makeBackend, start, whyNoBackend } from '../sandbox-backend.ts';

const whyNot = await whyNoBackend();

describe.skipIf(whyNot !== undefined)(`a guest${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;

  beforeAll(async () => {
    root = await guestRoot();
    cache = await backendCache();
  });

  afterAll(async () => {
    await root[Symbol.asyncDispose]();
    await cache[Symbol.asyncDispose]();
  });

  const startMachine = () => {
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    return start(makeBackend(cache.root), { image, cpus: 1, memoryMb: 256, diskMb: 64 });
  };

  test('a partly removed tree is reported as the entries that were removed', async () => {
    await using machine = await startMachine();
    // The directory itself is a mount, so it stays.
    await machine.sh('mkdir /dev/shm/d; touch /dev/shm/d/f');
    const found: Change[] = [];
    const scope = { signal: AbortSignal.timeout(60_000), noteChange: (change: Change) => void found.push(change) };
    await expect(machine.fileSystem.rm('/dev/shm', { recursive: true }, scope)).rejects.toThrow(HostError);
    expect((await machine.sh('ls -A /dev/shm')).stdout).toBe('');
    expect(found).toEqual([
      { path: '/dev/shm/d', kind: 'deleted', is_directory: true },
      { path: '/dev/shm/d/f', kind: 'deleted' },
    ]);
  });

  /** Each case has a directory of its own in one machine: starting one takes longer than a case. */
  describe('in one machine', () => {
    const shared = sharedMachine(startMachine);
    let count = 0;
    describeFileSystem('the files of a guest', async () => {
      const machine = await shared();
      const directory = `/home/work-${count++}`;
      await machine.exec(['mkdir', directory]);
      return {
        files: machine.fileSystem,
        root: directory,
        link: async (leadsTo, path) => void (await machine.exec(['ln', '-s', leadsTo, path])),
        async [Symbol.asyncDispose]() {},
      };
    });
  });
});

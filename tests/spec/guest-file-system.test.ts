/** The files of a guest pass the same suite as those of the host. */
import { afterAll, beforeAll, describe } from 'vitest';

import { guestRoot, tempDir, whyNoGuestRoot, type TempDir } from '#testing';
import { describeFileSystem } from '../../src/host/file-system.contract.ts';
import { startMachine } from '../../src/workers/sandbox/backends/machine.contract.ts';
import { NamespacesBackend } from '../../src/workers/sandbox/backends/namespaces/index.ts';

const whyNot = whyNoGuestRoot();

describe.skipIf(whyNot !== undefined)(`a guest${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;

  beforeAll(async () => {
    root = await guestRoot();
    cache = await tempDir();
  });

  afterAll(async () => {
    await root[Symbol.asyncDispose]();
    await cache[Symbol.asyncDispose]();
  });

  describeFileSystem('the files of a guest', async () => {
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', rootDir: root.root, env: [] };
    const backend = new NamespacesBackend({ cacheDir: cache.root });
    const machine = await startMachine(backend, { image, cpus: 1, memoryMb: 256, diskMb: 64, network: false });
    await machine.exec(['mkdir', '/home/work']);
    return {
      files: machine.fileSystem,
      root: '/home/work',
      link: async (leadsTo, path) => void (await machine.exec(['ln', '-s', leadsTo, path])),
      [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
    };
  });
});

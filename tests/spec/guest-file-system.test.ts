/** The files of a guest pass the same suite as those of the host. */
import { afterAll, beforeAll, describe } from 'vitest';

import { guestRoot, type TempDir } from '#testing';
import { describeFileSystem } from '../../src/host/files/file-system.contract.ts';
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

  describeFileSystem('the files of a guest', async () => {
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    const backend = makeBackend(cache.root);
    const machine = await start(backend, { image, cpus: 1, memoryMb: 256, diskMb: 64 });
    await machine.exec(['mkdir', '/home/work']);
    return {
      files: machine.fileSystem,
      root: '/home/work',
      link: async (leadsTo, path) => void (await machine.exec(['ln', '-s', leadsTo, path])),
      [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
    };
  });
});

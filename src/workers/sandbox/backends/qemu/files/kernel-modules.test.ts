/** The load order of modules, from their own metadata. */
import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { readModules } from './kernel-modules.ts';

const module = (depends: string) => `\x7fELF\0license=GPL\0depends=${depends}\0name=x\0`;

const tree = () =>
  tempDir({
    'modules.builtin': 'kernel/fs/ext4/ext4.ko\nkernel/lib/crc-32.ko\n',
    'kernel/virtio/virtio.ko': module(''),
    'kernel/virtio/virtio_ring.ko': module('virtio'),
    'kernel/block/virtio_blk.ko': module('virtio_ring,virtio'),
    'kernel/rng/virtio-rng.ko': module('virtio,crc-32'),
  });

test('what a module needs comes before it, once, and what is built in does not come', async () => {
  await using dir = await tree();
  const modules = readModules(dir.root, ['virtio_blk', 'virtio_rng', 'ext4']);
  expect(modules.map(({ name }) => name)).toEqual(['virtio', 'virtio_ring', 'virtio_blk', 'virtio_rng']);
  expect(modules[0]!.content.toString()).toBe(module(''));
});

test('a module that is not there is named', async () => {
  await using dir = await tree();
  expect(() => readModules(dir.root, ['erofs'])).toThrow(`the kernel in ${dir.root} has no module erofs`);
});

/**
 * Images that no registry has, copied between the machines of a cluster: one sends the archive through a channel of its
 * own, the other reads it from there. The node that schedules sandboxes arranges it, since a host may call nothing.
 */
import { createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { z } from 'zod';

import { wire } from '#contract';
import type { ChannelItem } from '#protocol';
import { ImageError } from '#sandbox/images';
import { StreamChannelRef } from '../channel-ref.ts';
import { errors } from '../errors.ts';
import { LONG_CALL_MS } from '../long-deadline.ts';
import { MOST_IMAGE_SENDS, sandbox } from '../worker.ts';

const MAX_ARCHIVE_BYTES = 12 * 2 ** 30;

const internal = { scope: 'host', isInternal: true, examples: [], deadlineMs: LONG_CALL_MS } as const;

/** An archive to fetch, and its channel. */
export const Offered = z.object({
  content: StreamChannelRef.describe('The end of the channel to read the archive from, once.'),
  size: wire.uint64(),
  digest: z.string().describe('Digest of the image in the archive.'),
  ref: z.string().describe('The reference of the image.'),
});

export const exportImage = sandbox.defineFunction({
  ...internal,
  id: 'sandbox::image::export',
  summary: 'Send an image that no registry has to another machine of the cluster.',
  effect: 'read',
  permissions: ['sandbox.read'],
  request: z.object({ image: z.string() }),
  response: Offered,
  errors: ['S100', 'S101', 'S102', 'S400'],

  async handle({ image }, { images, config, imageSends }, { bus, signal }) {
    if (!config.image_allowlist.includes(image)) throw errors.fail('S100', { image, allowed: config.image_allowlist });
    const requireRoom = () => {
      if (imageSends.count < MOST_IMAGE_SENDS) return;
      throw errors.fail('S400', { problem: `${MOST_IMAGE_SENDS} images are being sent to other machines already` });
    };
    requireRoom();
    const exported = await images.export(image, signal).catch((error: unknown) => {
      throw error instanceof ImageError ? errors.fail('S102', { image, problem: error.problem }, error) : error;
    });
    if (!exported) throw errors.fail('S101', { image });
    const { digest, sizeBytes, ref, bytes, close } = exported;
    try {
      requireRoom();
    } catch (error) {
      close();
      throw error;
    }
    const content = await imageSends.send({ sizeBytes, mode: 0o644, mtimeSecs: 0, bytes, close }, bus);
    return { content, size: sizeBytes, digest, ref };
  },
});

export const importImage = sandbox.defineFunction({
  ...internal,
  id: 'sandbox::image::import',
  summary: 'Take an image that another machine of the cluster sends.',
  effect: 'write',
  isDestructive: false,
  permissions: ['sandbox.run'],
  request: Offered.extend({ image: z.string() }),
  response: z.object({ digest: z.string() }),
  errors: ['S100', 'S101', 'S102'],

  async handle({ image, ref, digest, content, size }, { images, config }, { bus, signal }) {
    const isSame = config.image_allowlist.includes(image) && images.refOf(image) === ref;
    if (!isSame) throw errors.fail('S100', { image, allowed: config.image_allowlist });
    if (!config.auto_install) throw errors.fail('S101', { image });
    const workDir = images.makeWorkDir();
    try {
      const file = join(workDir, 'image.tar');
      const reader = await bus.openReader(content);
      await pipeline(Readable.from(atMost(size, reader)), createWriteStream(file, { flags: 'wx' }), { signal });
      const imported = await images.import(file, image, { signal, digest });
      return { digest: imported.digest };
    } catch (error) {
      throw errors.fail('S102', { image, problem: (error as Error).message }, error);
    } finally {
      rmSync(workDir, { recursive: true, force: true });
    }
  },
});

/** Throws when more bytes come than were announced. */
async function* atMost(size: number, items: AsyncIterable<ChannelItem>): AsyncGenerator<Uint8Array> {
  if (size > MAX_ARCHIVE_BYTES) throw new Error(`the archive has ${size} bytes; the limit is ${MAX_ARCHIVE_BYTES}`);
  let received = 0;
  for await (const item of items) {
    if (typeof item === 'string') continue;
    received += item.length;
    if (received > size) throw new Error(`the archive is longer than the ${size} bytes that were announced`);
    yield item;
  }
}

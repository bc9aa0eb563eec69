/** First use never exceeds the patience of a client. */
import { expect, test } from 'vitest';

import { silentLog, type CallScope, type Failure } from '#contract';
import { Images, openImages, percentOf } from '#sandbox/images';
import { ociImage, startRegistry, tempDir } from '#testing';
import { configSchema } from './config.ts';
import { createSandbox } from './create-sandbox.ts';
import { spell } from './errors.ts';
import { create } from './functions/create.ts';
import { ImageReadiness } from './image-readiness.ts';
import { Sandboxes } from './live/sandboxes.ts';
import type { SandboxContext } from './worker.ts';

const { manifest, blobs } = ociImage([[{ name: 'bin/sh', content: 'x' }]]);

function imagesOf(cacheDir: string, ref: string) {
  return new Images({ cacheDir, customImages: { tools: ref }, allowlist: ['tools'], autoInstall: true });
}

test('a call that would wait too long hears how far the image is, and it is still made', async () => {
  let open = () => {};
  const blobsAfter = new Promise<void>((resolve) => (open = resolve));
  await using registry = await startRegistry({ manifests: { 1: manifest }, blobs }, { blobsAfter });
  await using cache = await tempDir({});
  const config = configSchema.parse({
    cache_dir: cache.root,
    custom_images: { tools: `${registry.host}/tools:1` },
    image_allowlist: ['tools'],
  });
  const images = openImages(config, silentLog);
  const readiness = new ImageReadiness(images, silentLog);
  const sandboxes = new Sandboxes(config, silentLog);
  // The backend is never needed: there is no image for it.
  const backends = { choose: async () => undefined };
  const context = { config, images, readiness, sandboxes, backends } as unknown as SandboxContext;
  const scope = { signal: new AbortController().signal, log: silentLog } as unknown as CallScope;

  const wanted = create.request.parse({ image: 'tools', patience_ms: 300 });
  for (const caller of ['first', 'joining']) {
    const refused = await createSandbox({ ...wanted, name: caller }, context, scope).catch((thrown: unknown) => thrown);
    expect(JSON.parse(spell(refused as Failure).message.replace('handler error: ', ''))).toMatchObject({
      code: 'S102',
      retryable: true,
      message: expect.stringMatching(/^image 'tools' is being built \(\w+, \d+ %\); call again$/),
      fix_note: expect.stringContaining('continues meanwhile'),
    });
  }
  open();
  await expect.poll(() => images.isCached('tools')).toBe(true);
  await sandboxes.close();
  readiness.close();
});

test('images that may be booted are made ready, one that cannot be does not stop the next', async () => {
  await using registry = await startRegistry({ manifests: { 1: manifest }, blobs });
  await using cache = await tempDir({});
  const images = imagesOf(cache.root, `${registry.host}/tools:1`);
  const readiness = new ImageReadiness(images, silentLog);
  await readiness.prepareLater(['none', 'tools'], 0);
  expect(await images.isCached('tools')).toBe(true);

  const closed = new ImageReadiness(images, silentLog);
  closed.close();
  await closed.prepareLater(['tools'], 3_600_000);
});

test('progress has percent of the whole', () => {
  const image = 'a';
  expect([
    percentOf({ image, phase: 'resolving', doneBytes: 0 }),
    percentOf({ image, phase: 'downloading', doneBytes: 50, totalBytes: 100 }),
    percentOf({ image, phase: 'building', doneBytes: 0, share: 0.5 }),
    percentOf({ image, phase: 'unpacking', doneBytes: 7 }),
    percentOf({ image, phase: 'unpacking', doneBytes: 9, totalBytes: 9 }),
  ]).toEqual([0, 40, 40, 75, 99]);
});

import { expect, test } from 'vitest';

import type { CallEvent } from '#contract';
import { copyPrograms, ociImage, serveSandboxes, startRegistry, tempDir } from '#testing';
import { ImageEvent } from './image-event.ts';

test('a caller that takes events sees how its image is made', async () => {
  const { manifest, blobs } = ociImage([[{ name: 'bin/sh', content: 'x' }]]);
  await using registry = await startRegistry({ manifests: { 1: manifest }, blobs });
  await using cache = await tempDir();
  copyPrograms(cache.root);
  await using cell = await serveSandboxes({
    custom_images: { tools: `${registry.host}/tools:1` },
    image_allowlist: ['tools'],
    cache_dir: cache.root,
  });
  const caller = await cell.connect('caller');
  const heard: CallEvent[] = [];
  const onEvent = (event: CallEvent) => heard.push(event);
  // The image cannot run: the call fails after the image was made.
  await caller.call('sandbox::create', { image: 'tools' }, { onEvent, timeoutMs: 240_000 }).catch(() => {});
  caller.close();

  const images = heard.filter(({ type }) => type !== 'running');
  for (const event of images) expect(ImageEvent.strict().parse(event)).toEqual(event);
  expect(heard).toContainEqual(
    expect.objectContaining({
      ...{ type: 'image', image: 'tools', phase: 'downloading', step: 2, steps: 3 },
      message: expect.stringMatching(/^tools: \d+ %, downloading/),
      total_bytes: expect.any(Number),
    }),
  );
}, 300_000);

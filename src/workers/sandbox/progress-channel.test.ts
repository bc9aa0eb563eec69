import { expect, test } from 'vitest';

import { ociImage, serveSandboxes, startRegistry, tempDir } from '#testing';

test('a caller who gives a channel hears how its image is made', async () => {
  const { manifest, blobs } = ociImage([[{ name: 'bin/sh', content: 'x' }]]);
  await using registry = await startRegistry({ manifests: { 1: manifest }, blobs });
  await using cache = await tempDir({});
  const ref = `${registry.host}/tools:1`;
  await using cell = await serveSandboxes({
    custom_images: { tools: ref },
    image_allowlist: ['tools'],
    cache_dir: cache.root,
  });
  const caller = await cell.connect('caller');
  const { reader, writer } = await caller.createChannel();
  const steps = await caller.openReader(reader);
  const making = cell.failure('sandbox::create', { image: 'tools', progress: writer });

  const heard: unknown[] = [];
  for await (const item of steps) heard.push(JSON.parse(item as string));
  const step = {
    image: 'tools',
    phase: 'downloading',
    done_bytes: expect.any(Number),
    total_bytes: expect.any(Number),
    step: 2,
    steps: 3,
    percent: expect.any(Number),
  };
  expect(heard).toContainEqual(step);
  await making;
});

import { expect, test } from 'vitest';

import { ociImage, startRegistry, tempDir } from '#testing';
import { sandbox } from '#workers/sandbox';
import { makeImagesReady } from './make-images-ready.ts';

const { signal } = new AbortController();

test('setup prepares every allowed image and reports those that fail', async () => {
  const { manifest, blobs } = ociImage([[{ name: 'bin/sh', content: 'x' }]]);
  await using registry = await startRegistry({ manifests: { 1: manifest }, blobs });
  await using cache = await tempDir({});
  const config = sandbox.config.parse({
    cache_dir: cache.root,
    custom_images: { tools: `${registry.host}/tools:1`, gone: `${registry.host}/tools:2` },
    image_allowlist: ['tools', 'gone'],
  });
  const said = async (isDryRun: boolean) => {
    const lines: string[] = [];
    const areReady = await makeImagesReady(config, { isDryRun, signal, say: (line) => void lines.push(line) });
    return [areReady, ...lines];
  };
  expect(await said(true)).toEqual([
    true,
    'image tools: would be fetched or built',
    'image gone: would be fetched or built',
  ]);
  const why = expect.stringMatching(/^image gone: .*(404|not found|no )/) as unknown;
  expect(await said(false)).toEqual([false, 'image tools: is ready', why]);
  expect(await said(false)).toEqual([false, 'image tools: is here', why]);
});

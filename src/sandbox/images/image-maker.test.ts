import { readFileSync } from 'node:fs';

import { expect, test, vi } from 'vitest';

import { silentLog } from '#contract';
import { ARCHIVE_LIMITS } from '#sandbox/archives';
import { ociImage, startRegistry, tempDir } from '#testing';
import { ImageMaker } from './image-maker.ts';
import { ImageStore } from './image-store.ts';
import { REGISTRY_DEFAULTS } from './registry/registry-http.ts';

const signal = new AbortController().signal;

function makerIn(root: string) {
  const store = new ImageStore(root);
  return {
    store,
    maker: new ImageMaker({ store, limits: ARCHIVE_LIMITS, log: silentLog, registry: REGISTRY_DEFAULTS }),
  };
}

test('takes a preset from its registry when that answers', async () => {
  await using dir = await tempDir();
  const image = ociImage([[{ name: 'bin/python3', content: 'from the registry' }]]);
  await using registry = await startRegistry({ manifests: { latest: image.manifest }, blobs: image.blobs });
  const { store, maker } = makerIn(dir.root);
  const ref = `${registry.host}/iiidev/python:latest`;
  const record = await maker.make({ name: 'python', ref, signal, onProgress: () => {} });

  expect([record.source, store.find(ref)?.digest]).toEqual(['registry', record.digest]);
  expect(readFileSync(`${store.rootDir(record.digest)}/bin/python3`, 'utf8')).toBe('from the registry');
});

test.each(['does not have it', 'is not there'])(
  'builds a preset when its registry %s, or says what that takes',
  async (how) => {
    await using dir = await tempDir();
    const registry = await startRegistry({ manifests: {}, blobs: new Map() });
    if (how === 'is not there') await registry[Symbol.asyncDispose]();
    // Nothing to build with.
    vi.stubEnv('PATH', dir.root);
    const phases: string[] = [];
    const wanted = { name: 'python', ref: `${registry.host}/iiidev/python:latest`, signal };
    const making = makerIn(dir.root).maker.make({ ...wanted, onProgress: ({ phase }) => phases.push(phase) });

    await expect(making).rejects.toThrow('presets are built with apt, which this system does not have');
    expect(phases).toEqual(['building']);
    vi.unstubAllEnvs();
    await registry[Symbol.asyncDispose]();
  },
);

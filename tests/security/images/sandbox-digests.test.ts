/**
 * Registries that send other content than the digest asked for: as the manifest, the config or a layer; at once, after
 * an interrupted download, or from the URL that they redirect to. Nothing of it becomes an image or stays in the cache.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { ociImage, startRegistry, tempDir, type BlobFault, type TempDir } from '#testing';
import { Images } from '../../../src/sandbox/images/images.ts';

const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const noise = (seed: string) =>
  Buffer.from(
    Array.from({ length: 500 }, (_, i) =>
      createHash('md5')
        .update(seed + i)
        .digest('hex'),
    ).join(''),
  );

const good = ociImage([[{ name: 'bin/tool', content: noise('good') }]]);
const evil = ociImage([[{ name: 'bin/tool', content: noise('evil') }]]);
const manifestDigest = digestOf(good.manifest);
const blobOf = (image: typeof good, digest: string) => image.blobs.get(digest)!;
const config = blobOf(good, good.configDigest);
const layer = blobOf(good, good.layerDigests[0]!);
const otherLayer = blobOf(evil, evil.layerDigests[0]!);
const flipped = (bytes: Buffer) => Buffer.from(bytes.map((byte, i) => (i === bytes.length >> 1 ? byte ^ 1 : byte)));
const withEnv = Buffer.from(config.toString().replace('{', '{ '));

/** The first requested blob is the config, the second the layer; both again after a refusal. */
const LIES: [what: string, faults: (answer: number) => BlobFault | undefined][] = [
  ['another config of the same length', (n) => (n === 0 ? sends(flipped(config)) : undefined)],
  ['a config with a blank more', (n) => (n === 0 ? sends(withEnv) : undefined)],
  ['no config', (n) => (n < 3 ? sends(Buffer.alloc(0)) : undefined)],
  ['a layer with a bit changed', (n) => (n > 0 ? sends(flipped(layer)) : undefined)],
  ['the layer of another image', (n) => (n > 0 ? sends(otherLayer) : undefined)],
  ['a layer with more behind it', (n) => (n > 0 ? sends(Buffer.concat([layer, Buffer.alloc(512)])) : undefined)],
  ['a layer that ends early', (n) => (n > 0 ? sends(layer.subarray(0, -1)) : undefined)],
  [
    'half a layer, then the rest of another',
    (n) => (n === 1 ? { kind: 'break-off', afterBytes: 500 } : n > 1 ? sends(otherLayer) : undefined),
  ],
];

const sends = (content: Buffer): BlobFault => ({ kind: 'content', content });

test.each(LIES)('a registry that sends %s', async (_, blob) => {
  await using dir = await tempDir();
  await using registry = await startRegistry({ manifests: { v1: good.manifest }, blobs: good.blobs }, { blob });
  await expect(pull(dir, `${registry.host}/team/mine:v1`)).rejects.toThrow();
  expectNothing(dir);
  // The rest of a wrong download does not spoil the right one.
  await using honest = await startRegistry({ manifests: { v1: good.manifest }, blobs: good.blobs });
  await expect(pull(dir, `${honest.host}/team/mine:v1`)).resolves.toMatchObject({ name: 'mine' });
});

test.each([
  ['by its digest', (host: string) => `${host}/team/mine@${manifestDigest}`, { [manifestDigest]: evil.manifest }],
  [
    'by an index',
    (host: string) => `${host}/team/mine:v1`,
    {
      v1: Buffer.from(JSON.stringify({ manifests: [{ digest: manifestDigest, size: good.manifest.length }] })),
      [manifestDigest]: evil.manifest,
    },
  ],
  [
    'with a bit changed',
    (host: string) => `${host}/team/mine@${manifestDigest}`,
    { [manifestDigest]: flipped(good.manifest) },
  ],
])('a registry that sends another manifest for one that is named %s', async (_, ref, manifests) => {
  await using dir = await tempDir();
  await using registry = await startRegistry({ manifests, blobs: new Map([...good.blobs, ...evil.blobs]) });
  await expect(pull(dir, ref(registry.host))).rejects.toThrow(/registry sent digest sha256:/);
  expect(registry.requests.filter((path) => path.includes('/blobs/'))).toEqual([]);
  expectNothing(dir);
});

function pull(dir: TempDir, ref: string) {
  const images = new Images({
    cacheDir: dir.root,
    customImages: { mine: ref },
    allowlist: ['mine'],
    autoInstall: true,
    registry: { retryDelaysMs: [1, 1] },
  });
  return images.prepare('mine', { signal: AbortSignal.timeout(30_000) });
}

/** No tree, no reference, and under each digest only matching content. */
function expectNothing(dir: TempDir): void {
  for (const folder of ['rootfs', 'refs']) {
    expect(existsSync(dir.path(folder)) ? readdirSync(dir.path(folder)) : []).toEqual([]);
  }
  const kept = existsSync(dir.path('blobs'))
    ? readdirSync(dir.path('blobs')).filter((name) => !name.endsWith('.part'))
    : [];
  expect(kept.filter((name) => ![good.configDigest, ...good.layerDigests].includes(name.replace('-', ':')))).toEqual(
    [],
  );
}

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';

import { expect, test } from 'vitest';

import { ARCHIVE_LIMITS } from '#sandbox/archives';
import { ociImage, startRegistry, tempDir, type TempDir, type TestImage } from '#testing';
import { Images, type ImagesOptions } from '../images.ts';

const never = new AbortController().signal;
const hasZstd = spawnSync('zstd', ['--version']).status === 0;
// Noise, so that packing does not make it small.
const BIG = Buffer.from(
  Array.from({ length: 20_000 }, (_, at) => createHash('md5').update(String(at)).digest('hex')).join(''),
);
const image = ociImage([[{ name: 'big', content: BIG }]]);
const [layer = ''] = image.layerDigests;
const content = (of: TestImage) => ({ manifests: { v1: of.manifest }, blobs: of.blobs });

function pull(dir: TempDir, host: string, options: Partial<ImagesOptions> = {}, signal = never) {
  const images = new Images({
    cacheDir: dir.root,
    customImages: { mine: `${host}/team/mine:v1` },
    allowlist: ['mine'],
    autoInstall: true,
    ...options,
    registry: { retryDelaysMs: [1, 1], ...options.registry },
  });
  return images.prepare('mine', { signal });
}

const pulledFile = async (pulling: ReturnType<typeof pull>) =>
  readFileSync(`${(await pulling).rootDir}/big`).equals(BIG);

test('requests a token when the registry demands one, and uses it from then on', async () => {
  await using dir = await tempDir();
  await using registry = await startRegistry(content(image), { token: 'secret' });
  expect(await pulledFile(pull(dir, registry.host))).toBe(true);
  expect(registry.requests).toEqual([
    '/v2/team/mine/manifests/v1',
    '/token?service=test&scope=repository%3Ateam%2Fmine%3Apull',
    '/v2/team/mine/manifests/v1',
    `/v2/team/mine/blobs/${image.configDigest}`,
    `/v2/team/mine/blobs/${layer}`,
  ]);
});

test('takes the manifest for this machine from an index', async () => {
  await using dir = await tempDir();
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const entry = (digest: string, os: string, arch: string) => ({
    digest,
    size: 1,
    platform: { os, architecture: arch },
  });
  const other = `sha256:${'0'.repeat(64)}`;
  const index = JSON.stringify({
    manifests: [
      entry(other, 'linux', 's390x'),
      entry(other, 'windows', architecture),
      entry(image.manifestDigest, 'linux', architecture),
    ],
  });
  const manifests = { v1: Buffer.from(index), [image.manifestDigest]: image.manifest };
  await using registry = await startRegistry({ manifests, blobs: image.blobs });
  expect(await pulledFile(pull(dir, registry.host))).toBe(true);
});

test('resumes a download where it broke off, within a call and in a later one', async () => {
  await using dir = await tempDir();
  // fetch drops bytes that it has received but not returned when the connection breaks.
  const when = async (from: number) => {
    await expect.poll(() => partBytes(dir)).toBeGreaterThan(from);
  };
  const breaking = {
    blob: (answer: number) =>
      answer === 0 || answer === 3 ? undefined : { kind: 'break-off' as const, afterBytes: 100_000, when },
  };
  await using registry = await startRegistry(content(image), breaking);
  await expect(pull(dir, registry.host, { registry: { retryDelaysMs: [1] } })).rejects.toThrow(/broke off/);
  expect(await pulledFile(pull(dir, registry.host))).toBe(true);

  const layers = registry.requests.filter((request) => request.includes(layer));
  const ranges = layers.map((request) => Number(/bytes=(\d+)-/.exec(request)?.[1] ?? 0));
  // Each attempt begins after the bytes of the one before.
  const [first, second = 0, third = 0] = ranges;
  expect([ranges.length, first, second > 0, third > second]).toEqual([3, 0, true, true]);
});

/** Bytes so far of a blob that is still being downloaded. */
function partBytes(dir: TempDir): number {
  const files = readdirSync(dir.root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.part'));
  return files.reduce((bytes, file) => bytes + (statSync(dir.path(file), { throwIfNoEntry: false })?.size ?? 0), 0);
}

test('starts anew when the registry ignores where it should begin', async () => {
  await using dir = await tempDir();
  const faults = [undefined, { kind: 'break-off' as const, afterBytes: 100_000 }, { kind: 'ignore-range' as const }];
  await using registry = await startRegistry(content(image), { blob: (answer) => faults[answer] });
  expect(await pulledFile(pull(dir, registry.host))).toBe(true);
});

test('forgets a half download that turns out wrong, and gets it whole', async () => {
  await using dir = await tempDir({ [`blobs/${layer.replace(':', '-')}.part`]: 'not the beginning of it' });
  await using registry = await startRegistry(content(image));
  expect(await pulledFile(pull(dir, registry.host))).toBe(true);
});

test('tries again after a failure of the registry, and not after a refusal', async () => {
  await using dir = await tempDir();
  const busy = { blob: (answer: number) => (answer < 2 ? { kind: 'status' as const, status: 503 } : undefined) };
  await using registry = await startRegistry(content(image), busy);
  expect(await pulledFile(pull(dir, registry.host))).toBe(true);

  await using empty = await startRegistry({ manifests: {}, blobs: new Map() });
  await expect(pull(dir, empty.host)).rejects.toThrow(`${empty.host} answers 404 to /v2/team/mine/manifests/v1`);
  expect(empty.requests).toHaveLength(1);
});

const wrong = Buffer.from('something else');
const blobSize = image.blobs.get(layer)?.length ?? 0;

test.each([
  ['other bytes', Buffer.alloc(blobSize), `instead of ${layer}; pull again`],
  ['more bytes', Buffer.alloc(blobSize + 1), `${layer} is larger than the ${blobSize} bytes announced`],
  ['fewer bytes', wrong, `${layer} ended after ${wrong.length} of ${blobSize} bytes`],
])('refuses a blob of %s, and keeps none of it', async (_, sent, message) => {
  await using dir = await tempDir();
  const lie = { blob: (answer: number) => (answer === 0 ? undefined : { kind: 'content' as const, content: sent }) };
  await using registry = await startRegistry(content(image), lie);
  await expect(pull(dir, registry.host, { registry: { retryDelaysMs: [] } })).rejects.toThrow(message);
  expect(existsSync(dir.path(`blobs/${layer.replace(':', '-')}`))).toBe(false);
  expect(existsSync(dir.path('rootfs'))).toBe(false);
});

test('refuses layers that are not what the config says', async () => {
  await using dir = await tempDir();
  const lying = ociImage([[{ name: 'a', content: 'x' }]], { diffIds: [`sha256:${'1'.repeat(64)}`] });
  await using registry = await startRegistry(content(lying));
  await expect(pull(dir, registry.host)).rejects.toThrow(/layer sha256:1+ unpacks to sha256:/);
  expect(readdirSync(dir.path('rootfs'))).toEqual([]);
});

test.each([
  ['another processor', ociImage([[{ name: 'a' }]], { architecture: 's390x' }), /is for linux\/s390x/],
  [
    'encrypted layers',
    ociImage([[{ name: 'a' }]], { layerType: 'application/vnd.oci.image.layer.v1.tar+gzip+encrypted' }),
    /is not supported/,
  ],
  ['more than the limit', image, /bytes packed; the limit is 1000/],
])('refuses an image for %s', async (what, refused, message) => {
  await using dir = await tempDir();
  await using registry = await startRegistry(content(refused));
  const limits = what === 'more than the limit' ? { ...ARCHIVE_LIMITS, totalBytes: 1000 } : ARCHIVE_LIMITS;
  await expect(pull(dir, registry.host, { limits })).rejects.toThrow(message);
});

test.each(['http://example.invalid/blob', 'ftp://127.0.0.1/blob'])('does not follow a registry to %s', async (to) => {
  await using dir = await tempDir();
  await using registry = await startRegistry(content(image), { blob: () => ({ kind: 'redirect', to }) });
  await expect(pull(dir, registry.host)).rejects.toThrow(/uses plain HTTP/);
});

test('follows a registry to another place, without showing its token there', async () => {
  await using dir = await tempDir();
  await using store = await startRegistry(content(image), { blob: () => undefined });
  const to = `http://${store.host}/v2/x/blobs/`;
  const digests = [image.configDigest, layer];
  await using registry = await startRegistry(content(image), {
    token: 'secret',
    blob: (answer) => ({ kind: 'redirect', to: `${to}${digests[answer]}` }),
  });
  expect(await pulledFile(pull(dir, registry.host))).toBe(true);
  expect(store.authorizations).toEqual([undefined, undefined]);
});

test('ends a download that stalls, and one that its caller cancels', async () => {
  await using dir = await tempDir();
  const stalling = { blob: () => ({ kind: 'stall' as const, afterBytes: 10 }) };
  await using registry = await startRegistry(content(image), stalling);
  await expect(pull(dir, registry.host, { registry: { stallMs: 50, retryDelaysMs: [] } })).rejects.toThrow(
    /no byte for 50 ms/,
  );

  const caller = new AbortController();
  const pulling = pull(dir, registry.host, {}, caller.signal);
  setTimeout(() => caller.abort(), 50);
  await expect(pulling).rejects.toThrow(/abort/);
});

test.each(['break-off', 'stall'] as const)(
  'does not wait for a manifest that does not come whole (%s)',
  async (manifest) => {
    await using dir = await tempDir();
    await using registry = await startRegistry(content(image), { manifest });
    const quick = { answerMs: 1_000, stallMs: 1_000, retryDelaysMs: [1] };
    await expect(pull(dir, registry.host, { registry: quick })).rejects.toThrow(`${registry.host} broke off: `);
    expect(registry.requests).toHaveLength(2);
  },
);

test.skipIf(!hasZstd)('unpacks layers packed with zstd (skipped without the zstd program)', async () => {
  await using dir = await tempDir();
  const pack = (tar: Buffer) => execFileSync('zstd', ['-c', '-q'], { input: tar });
  const layerType = 'application/vnd.oci.image.layer.v1.tar+zstd';
  await using registry = await startRegistry(content(ociImage([[{ name: 'big', content: BIG }]], { pack, layerType })));
  expect(await pulledFile(pull(dir, registry.host))).toBe(true);
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { ociImage, startRegistry, tarArchive, tempDir, type TempDir, type TestImage } from '#testing';
import type { ImageProgress } from './image-progress.ts';
import { ImageStore } from './image-store.ts';
import { Images, type ImagesOptions } from './images.ts';

const never = new AbortController().signal;
const HELLO = [[{ name: 'bin/hello', content: 'hello', mode: 0o755 }], [{ name: 'etc/motd', content: 'welcome' }]];

function open(cacheDir: string, options: Partial<ImagesOptions> = {}) {
  return new Images({
    cacheDir,
    customImages: {},
    allowlist: ['mine'],
    autoInstall: true,
    registry: { retryDelaysMs: [] },
    ...options,
  });
}

function registryOf(image: TestImage, tag = 'v1') {
  return startRegistry({
    manifests: { [tag]: image.manifest, [image.manifestDigest]: image.manifest },
    blobs: image.blobs,
  });
}

test('refuses with the reason: unknown, not allowed, missing, failed', async () => {
  await using dir = await tempDir();
  const gone = await registryOf(ociImage(HELLO));
  await gone[Symbol.asyncDispose]();
  const customImages = { mine: `${gone.host}/mine`, bad: 'NO REFERENCE', zoo: '127.0.0.1:1/zoo' };
  const images = open(dir.root, { customImages, allowlist: ['mine', 'bad', 'ghost'] });
  const offline = open(dir.root, { customImages, allowlist: ['mine'], autoInstall: false });
  const reasonOf = async (asked: Images, name: string) => {
    const error = await asked.prepare(name, { signal: never }).catch((thrown: unknown) => thrown);
    return String(error);
  };

  const unknown = (name: string) => `ImageError: image ${name}: no image has this name`;
  expect(await reasonOf(images, 'ghost')).toBe(unknown('ghost'));
  expect(await reasonOf(images, 'docker.io/library/python:3')).toBe(unknown('docker.io/library/python:3'));
  expect(await reasonOf(images, 'zoo')).toBe('ImageError: image zoo: image_allowlist does not have it');
  expect(await reasonOf(images, 'python')).toBe('ImageError: image python: image_allowlist does not have it');
  expect(await reasonOf(offline, 'mine')).toBe('ImageError: image mine: it is not on this machine');
  await expect(images.prepare('mine', { signal: never })).rejects.toMatchObject({
    problem: `${gone.host}: connect ECONNREFUSED ${gone.host}`,
  });
  await expect(images.prepare('bad', { signal: never })).rejects.toThrow(/"NO REFERENCE" is not an image reference/);
});

test('reports beforehand how an image would get here', async () => {
  await using dir = await tempDir();
  await using registry = await registryOf(ociImage(HELLO));
  const customImages = { mine: `${registry.host}/mine:v1`, zoo: `${registry.host}/zoo:none`, bad: 'NO REFERENCE' };
  const images = open(dir.root, { customImages });
  const none = { kind: 'none', missing: [] };
  expect(await images.outlook('mine', never)).toEqual({ kind: 'registry' });
  expect(await images.outlook('zoo', never)).toMatchObject({ ...none, why: expect.stringContaining(registry.host) });
  expect(await images.outlook('bad', never)).toMatchObject({ ...none, why: expect.stringContaining('NO REFERENCE') });
  expect(await images.outlook('ghost', never)).toEqual({ ...none, why: 'no image has this name' });
  const offline = open(dir.root, { customImages, autoInstall: false });
  expect(await offline.outlook('mine', never)).toMatchObject({ ...none, why: expect.stringContaining('auto_install') });

  await images.prepare('mine', { signal: never });
  expect(await offline.outlook('mine', never)).toEqual({ kind: 'here' });
});

test('sandbox.B2 lists presets first and then custom images by name', () => {
  const images = open('/nowhere', { customImages: { zeta: 'z/z', alpha: 'a/a' } });
  expect(images.catalogue).toEqual([
    { name: 'python', ref: 'docker.io/iiidev/python:latest', kind: 'preset' },
    { name: 'node', ref: 'docker.io/iiidev/node:latest', kind: 'preset' },
    { name: 'alpha', ref: 'a/a', kind: 'custom' },
    { name: 'zeta', ref: 'z/z', kind: 'custom' },
  ]);
});

test('pulls an image once, keeps it, and reads its settings', async () => {
  await using dir = await tempDir();
  const image = ociImage(HELLO, { config: { Env: ['A=1'], WorkingDir: '/srv', User: 'app:staff' } });
  await using registry = await registryOf(image);
  const customImages = { mine: `${registry.host}/team/mine:v1` };
  const reported: ImageProgress[] = [];
  const prepared = await open(dir.root, { customImages }).prepare('mine', {
    signal: never,
    onProgress: (p) => reported.push(p),
  });

  expect(prepared).toEqual({
    name: 'mine',
    ref: `${registry.host}/team/mine:v1`,
    digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    rootDir: dir.path(`rootfs/${prepared.digest.replace(':', '-')}/tree`),
    env: ['A=1'],
    workdir: '/srv',
    user: 'app:staff',
  });
  expect(readFileSync(`${prepared.rootDir}/bin/hello`, 'utf8')).toBe('hello');
  expect(readFileSync(`${prepared.rootDir}/etc/motd`, 'utf8')).toBe('welcome');
  const total = [...image.blobs].reduce(
    (sum, [digest, { length }]) => (digest === image.manifestDigest ? sum : sum + length),
    0,
  );
  expect(reported.filter(({ phase }) => phase === 'downloading').at(-1)).toEqual({
    image: 'mine',
    phase: 'downloading',
    doneBytes: total,
    totalBytes: total,
  });
  expect(reported.some(({ phase }) => phase === 'unpacking')).toBe(true);

  const asked = registry.requests.length;
  const again = open(dir.root, { customImages, autoInstall: false });
  expect([await again.isCached('mine'), await again.prepare('mine', { signal: never })]).toEqual([true, prepared]);
  expect(registry.requests).toHaveLength(asked);
});

test('sandbox.P3 sandbox.B20 two first-ever prepares at once do the work once, in one process and in two caches of the same directory', async () => {
  await using dir = await tempDir();
  await using registry = await registryOf(ociImage(HELLO));
  const customImages = { mine: `${registry.host}/mine:v1` };
  const [one, other] = [open(dir.root, { customImages }), open(dir.root, { customImages })];
  const prepared = await Promise.all([one, one, other].map((images) => images.prepare('mine', { signal: never })));

  expect(new Set(prepared.map(({ rootDir }) => rootDir)).size).toBe(1);
  expect(readFileSync(`${prepared[0]?.rootDir}/bin/hello`, 'utf8')).toBe('hello');
  expect(registry.requests).toHaveLength(4);
  expect(readdirSync(dir.path('rootfs'))).toHaveLength(1);
});

test('asks the registry again only with a pull', async () => {
  await using dir = await tempDir();
  const [first, second] = [ociImage(HELLO), ociImage([[{ name: 'bin/hello', content: 'changed' }]])];
  const manifests: Record<string, Buffer> = { v1: first.manifest };
  await using registry = await startRegistry({ manifests, blobs: new Map([...first.blobs, ...second.blobs]) });
  const images = open(dir.root, { customImages: { mine: `${registry.host}/mine:v1` } });
  const old = await images.prepare('mine', { signal: never });
  manifests.v1 = second.manifest;

  expect(await images.prepare('mine', { signal: never })).toEqual(old);
  const pulled = await images.pull('mine', { signal: never });
  expect(readFileSync(`${pulled.rootDir}/bin/hello`, 'utf8')).toBe('changed');
  expect(readFileSync(`${old.rootDir}/bin/hello`, 'utf8')).toBe('hello');
});

/** The image as a directory in OCI layout. */
function addLayout(dir: TempDir, folder: string, image: TestImage, entries: unknown[] = []) {
  const put = (name: string, content: string | Buffer) => {
    mkdirSync(dirname(dir.path(`${folder}/${name}`)), { recursive: true });
    writeFileSync(dir.path(`${folder}/${name}`), content);
  };
  const manifest = {
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: image.manifestDigest,
    size: image.manifest.length,
  };
  put('oci-layout', '{"imageLayoutVersion":"1.0.0"}');
  put('index.json', JSON.stringify({ schemaVersion: 2, manifests: [manifest, ...entries] }));
  for (const [digest, content] of image.blobs) put(`blobs/${digest.replace(':', '/')}`, content);
}

/** As `docker save` wrote it for years: layers by name, a repeated one as a link to the first. */
function dockerArchive(image: TestImage): Buffer {
  const config = image.blobs.get(image.configDigest) ?? Buffer.alloc(0);
  const manifest = [{ Config: 'config.json', RepoTags: ['mine:v1'], Layers: ['one/layer.tar', 'two/layer.tar'] }];
  return tarArchive([
    { name: 'one/', flag: '5' },
    { name: 'one/layer.tar', content: image.tars[0] ?? '' },
    { name: 'two/layer.tar', flag: '2', linkName: '../one/layer.tar' },
    { name: 'config.json', content: config },
    { name: 'manifest.json', content: JSON.stringify(manifest) },
  ]);
}

const SAME_TWICE = [HELLO[0] ?? [], HELLO[0] ?? []];

test.each(['layout directory', 'layout tar', 'layout tar.gz', 'docker save', 'docker save, gzipped'])(
  'imports a %s',
  async (form) => {
    await using dir = await tempDir();
    const image = ociImage(SAME_TWICE, { config: { Env: ['A=1'] } });
    addLayout(dir, 'layout', image);
    const tar = form.startsWith('docker')
      ? dockerArchive(image)
      : execFileSync('tar', ['-C', dir.path('layout'), '-c', '.']);
    writeFileSync(dir.path('archive'), form.includes('gz') ? gzipSync(tar) : tar);

    const images = open(dir.path('cache'), { customImages: { mine: 'localhost/mine' }, autoInstall: false });
    const from = form === 'layout directory' ? dir.path('layout') : dir.path('archive');
    const imported = await images.import(from, 'mine', { signal: never });
    expect(imported).toMatchObject({ name: 'mine', ref: 'localhost/mine:latest', env: ['A=1'] });
    expect(await images.prepare('mine', { signal: never })).toEqual(imported);
    expect(readFileSync(`${imported.rootDir}/bin/hello`, 'utf8')).toBe('hello');
    expect(readdirSync(dir.path('cache/work'))).toEqual([]);
  },
);

test('a preset has /home/app for everybody, also when it was not built here', async () => {
  await using dir = await tempDir();
  addLayout(dir, 'layout', ociImage(HELLO));
  const images = open(dir.path('cache'), { customImages: { mine: 'localhost/mine' } });
  const { rootDir } = await images.import(dir.path('layout'), 'python', { signal: never });
  expect(statSync(`${rootDir}/home/app`).mode & 0o7777).toBe(0o777);
});

test('imports the platform of this machine, or the tag that was named', async () => {
  await using dir = await tempDir();
  const image = ociImage(HELLO);
  const foreign = { digest: `sha256:${'0'.repeat(64)}`, size: 1, platform: { os: 'linux', architecture: 'sparc' } };
  addLayout(dir, 'layout', image, [foreign]);
  const index = JSON.parse(readFileSync(dir.path('layout/index.json'), 'utf8'));
  const images = open(dir.path('cache'), { customImages: { mine: 'localhost/mine' } });

  const named = index.manifests.map((entry: object, at: number) => ({
    ...entry,
    annotations: { 'org.opencontainers.image.ref.name': `tag-${at}` },
  }));
  writeFileSync(dir.path('layout/index.json'), JSON.stringify({ manifests: named }));
  await expect(images.import(dir.path('layout'), 'mine', { signal: never })).rejects.toThrow(
    'image mine: the archive holds 2 images and none is named mine; it has tag-0, tag-1',
  );
  expect(await images.import(dir.path('layout'), 'tag-0', { signal: never })).toMatchObject({
    ref: 'docker.io/library/tag-0:latest',
  });
});

test.each([
  ['no image', () => tarArchive([{ name: 'readme', content: 'x' }]), /neither an OCI layout/],
  [
    'a path that points outside it',
    () => tarArchive([{ name: 'manifest.json', content: '[{"Config":"../../etc/passwd","Layers":[]}]' }]),
    /leaves the archive/,
  ],
  ['no tar', () => Buffer.from('hello'.repeat(500)), /not a tar/],
])('refuses an archive with %s', async (_, archive, message) => {
  await using dir = await tempDir({ archive: archive() });
  await expect(open(dir.path('cache')).import(dir.path('archive'), 'localhost/x', { signal: never })).rejects.toThrow(
    message,
  );
});

test('sandbox.P3 never prunes an image in use, whichever process uses it, and prunes the longest unused first', async () => {
  await using dir = await tempDir();
  const image = (content: string) => ociImage([[{ name: 'file', content }]]);
  const [a, b, c] = [image('a'), image('b'), image('c')];
  await using registry = await startRegistry({
    manifests: { a: a.manifest, b: b.manifest, c: c.manifest },
    blobs: new Map([...a.blobs, ...b.blobs, ...c.blobs]),
  });
  const names = ['a', 'b', 'c'];
  const customImages = Object.fromEntries(names.map((name) => [name, `${registry.host}/x:${name}`]));
  const images = open(dir.root, { customImages, allowlist: names });
  const made = await Promise.all(names.map((name) => images.prepare(name, { signal: never })));
  const age = (digest: string | undefined, hours: number) => {
    const then = Date.now() / 1000 - hours * 3600;
    utimesSync(dir.path(`rootfs/${digest?.replace(':', '-')}/image.json`), then, then);
  };
  const [first, second, third] = made.map(({ digest }) => digest) as [string, string, string];

  expect(images.prune({ unusedForMs: 0 })).toEqual({ removed: [], inUse: expect.any(Array), freedBytes: 0 });
  age(first, 3);
  age(second, 2);
  age(third, 1);
  const elsewhere = open(dir.root);
  elsewhere.hold(first);
  const size = images.list().find(({ name }) => name === 'a')?.cached?.bytes ?? 0;
  const report = images.prune({ unusedForMs: 24 * 3_600_000, maxBytes: 2 * size });
  expect([report.removed.map(({ digest }) => digest), report.inUse]).toEqual([[second], [first]]);
  expect([await images.isCached('a'), await images.isCached('b'), await images.isCached('c')]).toEqual([
    true,
    false,
    true,
  ]);

  elsewhere.release(first);
  expect(images.prune({ unusedForMs: 0 }).removed.map(({ digest }) => digest)).toEqual([first, third]);
  expect([readdirSync(dir.path('rootfs')), readdirSync(dir.path('refs'))]).toEqual([[], []]);
});

test('pruning does not mind what another process removes at the same time', async () => {
  await using dir = await tempDir({
    // As a listing shows an entry that is removed a moment later.
    'rootfs/sha256-gone/': '',
    'blobs/sha256-gone': { symlink: 'nowhere' },
    'refs/gone.json': { symlink: 'nowhere' },
  });
  expect(open(dir.root).prune({ unusedForMs: 0 })).toEqual({ removed: [], inUse: [], freedBytes: 0 });
  const store = new ImageStore(dir.root);
  expect([store.removeTree('sha256:never'), store.usedAtMs('sha256:never')]).toEqual([false, undefined]);
});

test('removes what a process that died left half made, and nothing of a living one', async () => {
  await using dir = await tempDir({
    'rootfs/.new-999999999-5-abc/tree/file': 'x',
    'work/.new-999999999-5-abc/base.tar': 'x',
  });
  const images = open(dir.root);
  const own = `rootfs/.new-${process.pid}-${readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[19]}-abc`;
  mkdirSync(dir.path(own));
  images.prune({ unusedForMs: 0 });
  expect([readdirSync(dir.path('rootfs')), readdirSync(dir.path('work')), existsSync(dir.path(own))]).toEqual([
    [own.slice('rootfs/'.length)],
    [],
    true,
  ]);
});

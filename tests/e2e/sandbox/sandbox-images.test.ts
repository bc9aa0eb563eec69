/** The commands that manage images: real processes, one cache, with and without an engine. */
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { ociImage, startRegistry, tarArchive } from '#testing';
import { runCli, startCli } from '../../../src/testing/cli.ts';
import { tempDir } from '../../../src/testing/temp-dir.ts';

/** Generous, for a busy machine. */
const NO_ENGINE = { III_URL: 'ws://127.0.0.1:1' };

const image = ociImage([[{ name: 'bin/hello', content: 'hello' }]]);

test('sandbox.P3 sandbox.B20 two processes that pull one image at once both get it, and one tree is made', async () => {
  await using dir = await tempDir();
  await using registry = await startRegistry({ manifests: { v1: image.manifest }, blobs: image.blobs });
  const pull = () =>
    runCli(['sandbox', 'pull', `${registry.host}/tools:v1`], { env: { XDG_CACHE_HOME: dir.root, ...NO_ENGINE } });
  const [one, other] = await Promise.all([pull(), pull()]);

  expect(one).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^127\.0\.0\.1:\d+\/tools:v1 is here as sha256:/),
  });
  expect(other).toEqual(one);
  const [tree, ...more] = readdirSync(dir.path('workcell/sandbox/rootfs'));
  expect(more).toEqual([]);
  expect(readFileSync(dir.path(`workcell/sandbox/rootfs/${tree}/tree/bin/hello`), 'utf8')).toBe('hello');
  const layers = registry.requests.filter((request) => request.endsWith(image.layerDigests[0] ?? ''));
  expect(layers).toHaveLength(1);
});

test('worker add with an image fetches it before its first use', async () => {
  await using dir = await tempDir();
  await using registry = await startRegistry({ manifests: { v1: image.manifest }, blobs: image.blobs });
  const added = await runCli(['worker', 'add', `${registry.host}/iiidev/tools:v1`], {
    env: { XDG_CACHE_HOME: dir.root, ...NO_ENGINE },
  });

  expect(added).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('/iiidev/tools:v1 is here as') });
  expect(readdirSync(dir.path('workcell/sandbox/rootfs'))).toHaveLength(1);
});

test('imports an archive for a preset, lists it, and prunes it when it was not used for long', async () => {
  await using dir = await tempDir();
  const config = image.blobs.get(image.configDigest) ?? '';
  const archive = tarArchive([
    { name: 'layer.tar', content: image.tars[0] ?? '' },
    { name: 'config.json', content: config },
    { name: 'manifest.json', content: '[{"Config":"config.json","Layers":["layer.tar"]}]' },
  ]);
  writeFileSync(dir.path('image.tar'), archive);
  const run = (...words: string[]) =>
    runCli(['sandbox', ...words], { env: { XDG_CACHE_HOME: dir.root, ...NO_ENGINE } });

  expect(await run('import', dir.path('image.tar'), 'python')).toMatchObject({ code: 0, stderr: '' });
  const { stdout } = await run('images', '--json');
  const rows = JSON.parse(stdout);
  expect(rows).toEqual([
    {
      name: 'python',
      ref: 'docker.io/iiidev/python:latest',
      cached: expect.objectContaining({ source: 'archive', isInUse: false }),
    },
    { name: 'node', ref: 'docker.io/iiidev/node:latest', cached: null },
  ]);

  const [tree] = readdirSync(dir.path('workcell/sandbox/rootfs'));
  utimesSync(dir.path(`workcell/sandbox/rootfs/${tree}/image.json`), 1, 1);
  expect(await run('prune')).toEqual({
    code: 0,
    stderr: '',
    stdout: 'removed docker.io/iiidev/python:latest\n0.0 MB freed\n',
  });
  expect(readdirSync(dir.path('workcell/sandbox/rootfs'))).toEqual([]);
});

test('says in one line why an image cannot be had', async () => {
  await using dir = await tempDir({ 'image.tar': 'no image' });
  const run = (...words: string[]) =>
    runCli(['sandbox', ...words], { env: { XDG_CACHE_HOME: dir.root, ...NO_ENGINE } });
  expect(await run('import', dir.path('image.tar'), 'python')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'Error: image python: the archive ends at byte 8, in the middle of a header: it is incomplete\n',
  });
  expect(await run('import', dir.path('missing.tar'), 'python')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ENOENT'),
  });
  expect(await run('prune', '--unused-for', 'long')).toMatchObject({ code: 2 });
});

test('beside an engine they work on its cache, under its names, or say why not', async () => {
  await using dir = await tempDir();
  await using registry = await startRegistry({ manifests: { v1: image.manifest }, blobs: image.blobs });
  const config = {
    cache_dir: dir.path('its'),
    prepare_images: false,
    custom_images: { tools: `${registry.host}/tools:v1` },
  };
  const workers = (more: object) => JSON.stringify({ workers: [{ name: 'iii-sandbox', config: more }] });
  dir.add({ 'its.yaml': workers(config), 'same.yaml': workers({ cache_dir: dir.path('its') }) });
  await using cell = await startCli(['start', '--port', '0', '-c', dir.path('its.yaml')]);
  const run = (...words: string[]) =>
    runCli(['sandbox', ...words], { env: { XDG_CACHE_HOME: dir.path('mine'), III_URL: cell.url } });

  for (const words of [['images'], ['pull', 'tools'], ['import', 'x.tar', 'tools'], ['prune']]) {
    const { code, stdout, stderr } = await run(...words);
    expect([words, code, stdout]).toEqual([words, 2, '']);
    expect(stderr).toMatch(
      /has another image cache than this configuration; give its configuration file with -c, or --local/,
    );
  }
  expect((await run('images', '--local', '--json')).stdout).not.toContain('tools');

  // The name is the engine's: this configuration does not have it.
  const pulled = await run('pull', 'tools', '-c', dir.path('same.yaml'));
  expect(pulled).toMatchObject({ code: 0, stdout: expect.stringMatching(/\/tools:v1 is here as sha256:/) });
  const catalogue = await runCli(['call', 'sandbox::catalog::list'], { env: { III_URL: cell.url } });
  expect(JSON.parse(catalogue.stdout)).toMatchObject({
    images: expect.arrayContaining([expect.objectContaining({ name: 'tools', cached: true })]),
  });
});

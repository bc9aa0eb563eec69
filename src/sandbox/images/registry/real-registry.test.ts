/** The reference registry, filled by a standard tool. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname } from 'node:path';

import { expect, test } from 'vitest';

import { ociImage, tempDir, type TempDir, type TestImage } from '#testing';
import { Images } from '../images.ts';

const missing = ['docker-registry', 'skopeo'].filter((program) => spawnSync(program, ['--help']).error);
const whyNot = missing.length === 0 ? '' : ` (skipped: ${missing.join(' and ')} not installed)`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function addLayout(dir: TempDir, image: TestImage): void {
  const put = (name: string, content: string | Buffer) => {
    mkdirSync(dirname(dir.path(`layout/${name}`)), { recursive: true });
    writeFileSync(dir.path(`layout/${name}`), content);
  };
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const annotations = { 'org.opencontainers.image.ref.name': 'one' };
  const entry = { mediaType, digest: image.manifestDigest, size: image.manifest.length, annotations };
  put('oci-layout', '{"imageLayoutVersion":"1.0.0"}');
  put('index.json', JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
  for (const [digest, content] of image.blobs) put(`blobs/${digest.replace(':', '/')}`, content);
}

async function startDockerRegistry(dir: TempDir): Promise<AsyncDisposable & { host: string }> {
  const host = `127.0.0.1:${await freePort()}`;
  const storage = { filesystem: { rootdirectory: dir.path('registry') } };
  writeFileSync(dir.path('registry.yml'), JSON.stringify({ version: '0.1', storage, http: { addr: host } }));
  const server = spawn('docker-registry', ['serve', dir.path('registry.yml')], { stdio: 'ignore' });
  const isUp = () =>
    fetch(`http://${host}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isUp).toBe(true);
  return {
    host,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
  };
}

test.skipIf(whyNot)(
  `pulls what skopeo put into docker-registry, as OCI and as Docker has it${whyNot}`,
  { timeout: 60_000 },
  async () => {
    await using dir = await tempDir();
    const layers = [
      [{ name: 'bin/hello', content: 'hello' }],
      [{ name: 'bin/.wh.hello' }, { name: 'etc/motd', content: 'bye' }],
    ];
    addLayout(dir, ociImage(layers, { config: { Env: ['A=1'] } }));
    await using registry = await startDockerRegistry(dir);
    for (const format of ['oci', 'v2s2']) {
      const to = `docker://${registry.host}/team/tools:${format}`;
      execFileSync('skopeo', [
        'copy',
        '--dest-tls-verify=false',
        `--format=${format}`,
        `oci:${dir.path('layout')}:one`,
        to,
      ]);
    }

    const customImages = { oci: `${registry.host}/team/tools:oci`, docker: `${registry.host}/team/tools:v2s2` };
    const images = new Images({
      cacheDir: dir.path('cache'),
      customImages,
      allowlist: ['oci', 'docker'],
      autoInstall: true,
    });
    const signal = AbortSignal.timeout(30_000);
    const [oci, docker] = [await images.prepare('oci', { signal }), await images.prepare('docker', { signal })];
    expect([oci.env, docker.env, oci.digest]).toEqual([['A=1'], ['A=1'], docker.digest]);
    expect(readFileSync(`${oci.rootDir}/etc/motd`, 'utf8')).toBe('bye');
    expect(execFileSync('find', ['.', '-type', 'f'], { cwd: oci.rootDir }).toString()).toBe('./etc/motd\n');
  },
);

/** The kernel, from a fake apt: the calls of apt, the progress, and the leftovers of a failure. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';

import { afterEach, expect, test, vi } from 'vitest';

import type { ImageProgress } from '#sandbox/images';
import { tempDir, type TempDir } from '#testing';
import { findKernel, prepareKernel } from './kernel.ts';

const VERSION = '6.1.0-54-cloud-amd64';
const PACKAGE = `linux-image-${VERSION}`;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Programs that record their arguments; the package is a shell script that unpacks itself. */
const PROGRAMS = {
  'apt-cache': `echo "linux-image-cloud-amd64"; echo "  Depends: ${PACKAGE}"`,
  'apt-get': `case "$2" in --print-uris) echo "'http://x/k.deb' k.deb 1000 SHA256:00" ;; *) sleep 0.6; echo package > k.deb ;; esac`,
  dpkg: `mkdir -p boot lib/modules/${VERSION} && echo kernel > boot/vmlinuz-${VERSION}`,
};

async function withApt(programs: Record<string, string>): Promise<TempDir> {
  const dir = await tempDir({ 'bin/': '', 'cache/': '' });
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(dir.path(`bin/${name}`), `#!/bin/sh\necho "${name} $*" >> ${dir.path('calls')}\n${script}\n`);
    chmodSync(dir.path(`bin/${name}`), 0o755);
  }
  vi.stubEnv('PATH', [dir.path('bin'), '/usr/bin', '/bin'].join(delimiter));
  return dir;
}

const signal = () => AbortSignal.timeout(30_000);

test('it is downloaded and unpacked once, with word of how far it is, and found without apt from then on', async () => {
  await using dir = await withApt(PROGRAMS);
  const reported: ImageProgress[] = [];
  const wait = { signal: signal(), onProgress: (progress: ImageProgress) => reported.push(progress) };
  const kernels = await Promise.all([prepareKernel(dir.path('cache'), wait), prepareKernel(dir.path('cache'), wait)]);
  const folder = dir.path(`cache/kernels/${PACKAGE}`);
  const kernel = {
    version: VERSION,
    image: `${folder}/boot/vmlinuz-${VERSION}`,
    modulesDir: `${folder}/lib/modules/${VERSION}`,
  };
  expect(kernels).toEqual([kernel, kernel]);
  expect(readFileSync(dir.path('calls'), 'utf8').match(/^dpkg.*$/gm)).toEqual(['dpkg -x k.deb .']);
  expect(readdirSync(folder).toSorted()).toEqual(['boot', 'lib']);
  expect([...new Set(reported.map(({ phase }) => phase))]).toEqual(['resolving', 'downloading', 'unpacking']);
  expect(reported.find(({ phase }) => phase === 'downloading')).toEqual({
    image: PACKAGE,
    phase: 'downloading',
    doneBytes: 0,
    totalBytes: 1000,
  });

  vi.stubEnv('PATH', '/nowhere');
  expect(await prepareKernel(dir.path('cache'), { signal: signal() })).toEqual(kernel);
});

test('of several the newest is taken, and what is not a kernel is skipped', async () => {
  await using dir = await tempDir();
  const versions = ['6.1.0-9-cloud-amd64', '6.1.0-54-cloud-amd64', '6.1.0-60-cloud-amd64'];
  for (const version of versions)
    mkdirSync(dir.path(`linux-image-${version}/lib/modules/${version}`), { recursive: true });
  for (const version of versions.slice(0, 2)) dir.add({ [`linux-image-${version}/boot/vmlinuz-${version}`]: '' });
  expect(findKernel(dir.root)?.version).toBe('6.1.0-54-cloud-amd64');
  expect(findKernel(dir.path('none'))).toBeUndefined();
});

test.each([
  ['apt does not know it', { 'apt-cache': 'echo nothing' }, /apt knows no package linux-image-cloud-.*apt-get update/],
  [
    'the download fails',
    { 'apt-get': 'case "$2" in --print-uris) ;; *) echo "no route to host" >&2; exit 100 ;; esac' },
    /apt-get ended with 100: no route to host\nrun apt-get update as root/,
  ],
])('when %s, the error has the reason and the remedy, and nothing is left', async (_, programs, message) => {
  await using dir = await withApt({ ...PROGRAMS, ...programs });
  await expect(prepareKernel(dir.path('cache'), { signal: signal() })).rejects.toThrow(message);
  expect(findKernel(dir.path('cache/kernels'))).toBeUndefined();
});

test('without apt, the error has the remedy', async () => {
  await using dir = await tempDir();
  vi.stubEnv('PATH', dir.root);
  await expect(prepareKernel(dir.root, { signal: signal() })).rejects.toThrow(
    /comes with apt, which this system does not have; copy the folder kernels/,
  );
});

/**
 * The kernel of the virtual machines: Debian's cloud kernel, unpacked into the cache and not installed.
 *
 * Once unpacked it is used from then on, also without a network. Delete its folder to fetch the current one.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { BuildError, runProgram } from '#sandbox/images';
import { makeOnce, type Waiter } from './make-once.ts';

export interface Kernel {
  /** Version as in the package: `6.1.0-54-cloud-amd64`. */
  readonly version: string;
  readonly image: string;
  readonly modulesDir: string;
}

/** Debian's names of the processors. */
const DEBIAN_NAMES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

const ASK_MS = 60_000;
const DOWNLOAD_MS = 600_000;
const POLL_MS = 250;

const WITHOUT_APT =
  'the kernel of virtual machines comes with apt, which this system does not have; copy the folder kernels from the ' +
  'cache of a Debian machine';
const REFRESH = 'run apt-get update as root and try again';

export async function prepareKernel(cacheDir: string, waiter: Waiter): Promise<Kernel> {
  const folder = join(cacheDir, 'kernels');
  const found = findKernel(folder);
  if (found) return found;

  const name = await currentPackage(waiter.signal);
  const dir = await makeOnce(join(folder, name), waiter, (draft, made) => fetchPackage(name, draft, made));
  const kernel = kernelIn(dir, name);
  if (!kernel) throw new BuildError(`the package ${name} holds no kernel`);
  return kernel;
}

/** Returns the newest unpacked kernel. */
export function findKernel(folder: string): Kernel | undefined {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).filter((name) => name.startsWith(PACKAGE));
  const newestFirst = names.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  for (const name of newestFirst) {
    const kernel = kernelIn(join(folder, name), name);
    if (kernel) return kernel;
  }
  return undefined;
}

const PACKAGE = 'linux-image-';

function kernelIn(dir: string, name: string): Kernel | undefined {
  const version = name.slice(PACKAGE.length);
  const image = join(dir, 'boot', `vmlinuz-${version}`);
  const modulesDir = ['lib/modules', 'usr/lib/modules'].map((path) => join(dir, path, version)).find(existsSync);
  return existsSync(image) && modulesDir !== undefined ? { version, image, modulesDir } : undefined;
}

/** The package that the cloud metapackage depends on now. */
async function currentPackage(signal: AbortSignal): Promise<string> {
  const arch = DEBIAN_NAMES[process.arch];
  if (arch === undefined) throw new BuildError(`Debian has no cloud kernel for ${process.arch}`);
  const listing = await runProgram(['apt-cache', 'depends', '--important', `linux-image-cloud-${arch}`], {
    signal,
    timeoutMs: ASK_MS,
    env: { LC_ALL: 'C' },
    hint: WITHOUT_APT,
    advice: REFRESH,
  });
  const name = /Depends: (linux-image-\S+)/.exec(listing)?.[1];
  if (name === undefined) throw new BuildError(`apt knows no package linux-image-cloud-${arch}; ${REFRESH}`);
  return name;
}

async function fetchPackage(name: string, dir: string, { signal, onProgress }: Required<Waiter>): Promise<void> {
  const apt = { signal, timeoutMs: DOWNLOAD_MS, cwd: dir, hint: WITHOUT_APT, advice: REFRESH };
  mkdirSync(dir, { mode: 0o700 });
  onProgress?.({ image: name, phase: 'resolving', doneBytes: 0 });
  const sizes = await runProgram(['apt-get', 'download', '--print-uris', name], apt);
  const totalBytes = Number(/\.deb (\d+) /.exec(sizes)?.[1] ?? Number.NaN);

  const report = () => {
    const doneBytes = readdirSync(dir).reduce((sum, file) => sum + statSync(join(dir, file)).size, 0);
    onProgress?.({ image: name, phase: 'downloading', doneBytes, ...(totalBytes > 0 && { totalBytes }) });
  };
  report();
  const timer = setInterval(report, POLL_MS);
  try {
    await runProgram(['apt-get', 'download', name], apt);
  } finally {
    clearInterval(timer);
  }

  const archive = readdirSync(dir).find((file) => file.endsWith('.deb'));
  if (archive === undefined) throw new BuildError(`apt-get download ${name} left no package`);
  onProgress?.({ image: name, phase: 'unpacking', doneBytes: 0 });
  const hint = 'the kernel of virtual machines is unpacked with dpkg, which this system does not have';
  await runProgram(['dpkg', '-x', archive, '.'], { signal, timeoutMs: DOWNLOAD_MS, cwd: dir, hint });
  rmSync(join(dir, archive));
  // Newer packages have compressed modules, which the kernel need not support.
  const unpack = ['find', '.', '-name', '*.ko.xz', '-exec', 'xz', '-d', '{}', '+'];
  await runProgram(unpack, { signal, timeoutMs: DOWNLOAD_MS, cwd: dir, hint: 'apt-get install findutils xz-utils' });
}

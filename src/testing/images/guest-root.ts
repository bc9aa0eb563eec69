/**
 * A small root for a sandbox: busybox, the accounts root and nobody, and nothing else.
 *
 * Suites of the sandbox need a machine that runs commands, not a distribution, so none of them waits for an image.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, linkSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { tempDir, type TempDir } from '../temp-dir.ts';

const BUSYBOX = '/bin/busybox';

/** Why no machine can run on such a root, or undefined. `scripts/sandbox-packages.mjs` installs missing packages. */
export function whyNoGuestRoot(): string | undefined {
  if (process.platform !== 'linux') return 'sandboxes of namespaces need Linux';
  const isStatic = existsSync(BUSYBOX) && !readFileSync(BUSYBOX).includes('/ld-linux');
  if (!isStatic) return 'the package busybox-static is missing';
  const folders = (process.env.PATH ?? '').split(delimiter);
  const hasCompiler = folders.some((folder) => existsSync(join(folder, 'gcc')));
  return hasCompiler ? undefined : 'the package gcc is missing';
}

export async function guestRoot(): Promise<TempDir> {
  const dir = await tempDir({
    'bin/': '',
    'usr/bin/': '',
    'usr/local/': '',
    'home/': '',
    'root/': '',
    'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/sh\n',
    'etc/group': 'root:x:0:\nnogroup:x:65534:\n',
    'image-file': 'from the image\n',
  });
  chmodSync(dir.root, 0o755);
  copyFileSync(BUSYBOX, dir.path('bin/busybox'));
  const tools = execFileSync(BUSYBOX, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  for (const tool of tools.filter((name) => name !== 'busybox'))
    linkSync(dir.path('bin/busybox'), dir.path(`bin/${tool}`));
  return dir;
}

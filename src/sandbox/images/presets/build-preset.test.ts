/** The presets are really built and their programs really run: a tree that looks right may still lack a library. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';

import { expect, test } from 'vitest';

import { silentLog } from '#contract';
import { ARCHIVE_LIMITS } from '#sandbox/archives';
import { sandboxConfig, tempDir, type TempDir } from '#testing';
import { ImageStore } from '../image-store.ts';
import { openImages } from '../open-images.ts';
import { fetchPreset } from './build-preset.ts';

function whyNotHere(): string {
  if (process.getuid?.() !== 0) return ' (skipped: running a program of a preset needs root)';
  if (spawnSync('mmdebstrap', ['--version']).error) return ' (skipped: mmdebstrap is not installed)';
  return '';
}

const whyNot = whyNotHere();

const PROGRAMS = {
  python: [
    ['python3 -c "import ssl, sqlite3, json; print(len(ssl.create_default_context().get_ca_certs()) > 50)"', 'True\n'],
    ['python -m pip --version | cut -d" " -f1', 'pip\n'],
    ['python3 -m venv /tmp/v && /tmp/v/bin/python -c "print(1)"', '1\n'],
  ],
  node: [
    ['node -e "console.log(process.release.name)"', 'node\n'],
    ['npm --version | cut -d. -f1', '10\n'],
    ['npx --version | cut -d. -f1', '10\n'],
  ],
} as const;

const COMMON = [
  ['id -un', 'root\n'],
  ['echo a b | awk "{print \\$2}" | sed s/b/c/ | tr c d', 'd\n'],
  ['ls -d /tmp /proc /dev/shm /root', '/dev/shm\n/proc\n/root\n/tmp\n'],
  ['readlink /bin /lib /sbin', 'usr/bin\nusr/lib\nusr/sbin\n'],
  ['PATH=/usr/bin sh -c "env true && bash -c \\"type -P sh\\""', '/usr/bin/sh\n'],
  ['printf "#!/usr/bin/bash\\necho \\$0" >/tmp/s && chmod +x /tmp/s && /tmp/s', '/tmp/s\n'],
  ['touch /home/app/x && stat -c %a /home/app', '777\n'],
  ['curl --version | cut -d" " -f1 | head -1', 'curl\n'],
  ['test -e /etc/hostname || test -e /etc/resolv.conf || test -e /etc/apt || echo clean', 'clean\n'],
] as const;

test.skipIf(whyNot).each(['python', 'node'] as const)(
  `sandbox.P4 builds %s from packages, and its programs run${whyNot}`,
  { timeout: 300_000 },
  async (name) => {
    await using dir = await tempDir({ 'work/': '' });
    const rootDir = dir.path('root');
    mkdirSync(rootDir);
    const signal = AbortSignal.timeout(280_000);
    const { digest, env, skipped } = (await builtForCases(name, rootDir, signal)) ?? (await build(name, dir, signal));
    expect([digest, skipped > 0]).toEqual([expect.stringMatching(/^sha256:[0-9a-f]{64}$/), true]);

    const run = (command: string) =>
      execFileSync('chroot', [rootDir, '/bin/sh', '-c', command], {
        env: Object.fromEntries(env.map((one) => one.split('='))),
      });
    for (const [command, output] of [...COMMON, ...PROGRAMS[name]])
      expect([command, run(command).toString()]).toEqual([command, output]);
    expect(statSync(`${rootDir}/tmp`).mode & 0o7777).toBe(0o1777);
    // Compiled beforehand, or each sandbox would do it again.
    const compiled = execFileSync('find', [rootDir, '-name', 'os.cpython-*.pyc']).toString();
    expect(compiled !== '').toBe(name === 'python');
  },
);

interface Built {
  readonly digest: string;
  readonly env: readonly string[];
  readonly skipped: number;
}

/** A copy of the preset of the sandbox cases, unless it came from a registry: the same code built it. */
async function builtForCases(name: string, rootDir: string, signal: AbortSignal): Promise<Built | undefined> {
  const config = { custom_images: {}, auto_install: true, ...sandboxConfig() } as Parameters<typeof openImages>[0];
  const { ref } = await openImages(config, silentLog).prepare(name, { signal });
  const store = new ImageStore(config.cache_dir!);
  const found = store.find(ref)!;
  if (found.source !== 'built') return undefined;

  execFileSync('cp', ['-a', `${found.rootDir}/.`, rootDir]);
  return { digest: found.digest, env: found.settings.env, skipped: store.treeRecord(found.digest)!.skipped };
}

async function build(name: 'python' | 'node', dir: TempDir, signal: AbortSignal): Promise<Built> {
  const { digest, env, unpack } = await fetchPreset(name, { workDir: dir.path('work'), signal });
  const { skipped } = await unpack(dir.path('root'), { limits: ARCHIVE_LIMITS, signal });
  return { digest, env, skipped };
}

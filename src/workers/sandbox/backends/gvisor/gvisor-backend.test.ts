/** The contract on gVisor, where `runsc` is. */
import { chmodSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { guestRoot, machineCache, tempDir, whyNoGuestRoot, type TempDir } from '#testing';
import { backendContract } from '../backend.contract.ts';
import { startMachine } from '../machine.contract.ts';
import type { SandboxBackend, Shape } from '../backend.ts';
import { gvisorBackend } from './gvisor-backend.ts';
import { findRunsc } from './runsc.ts';

const whyNot = whyNoGuestRoot() ?? (findRunsc() === undefined ? 'the package runsc is missing' : undefined);

describe.skipIf(whyNot !== undefined)(`sandbox.P11 gvisor${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  vi.setConfig({ testTimeout: 60_000 });
  let root: TempDir;
  let cache: TempDir;
  let backend: SandboxBackend;
  let shape: Shape;

  beforeAll(async () => {
    root = await guestRoot();
    cache = await machineCache();
    backend = gvisorBackend({ cacheDir: cache.root });
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    shape = { image, cpus: 1, memoryMb: 256, diskMb: 64 };
  });

  afterAll(async () => {
    await root[Symbol.asyncDispose]();
    await cache[Symbol.asyncDispose]();
  });

  test('the probe starts a machine and says what holds it', async () => {
    expect(await backend.probe(AbortSignal.timeout(60_000))).toEqual({
      ok: true,
      detail: expect.stringMatching(/^runsc \S+, (ids of its own|rootless), limits by (cgroup2|cgroup1|watchdog)$/),
    });
  });

  test('commands that together want more memory than there is do not get it, and others start again after', async () => {
    await using machine = await startMachine(backend, { ...shape, memoryMb: 64 });
    // Each doubles a text up to 64 MiB and keeps it.
    const hog = 'x=aaaaaaaa; i=0; while [ $i -lt 23 ]; do x=$x$x; i=$((i+1)); done; sleep 60';
    // Ends those that got their memory.
    const timeoutMs = 10_000;
    const hogs = Array.from({ length: 6 }, () => machine.sh(hog, { timeoutMs }));
    expect((await Promise.all(hogs)).map(({ exitCode }) => exitCode)).not.toContain(0);
    // The first command may still find no memory left; the next one finds some.
    await machine.sh('true');
    expect((await machine.sh('echo alive')).stdout).toBe('alive');
  }, 120_000);

  test('a program that is not runsc is reported as such', async () => {
    await using folder = await tempDir({ runsc: '#!/bin/sh\nexit 3\n' });
    chmodSync(folder.path('runsc'), 0o755);
    vi.stubEnv('PATH', `${folder.root}:${process.env.PATH}`);
    const other = gvisorBackend({ cacheDir: cache.root });
    try {
      expect(await other.probe(AbortSignal.timeout(60_000))).toEqual({
        ok: false,
        reason: expect.stringContaining('Command failed'),
        stderrTail: '',
      });
      expect(other.fingerprint()).toContain(folder.root);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  backendContract('gvisor', () => ({
    backend,
    shape,
    traits: ['oom-kills-uncounted', 'pids-of-the-host', 'plain-terminals'],
    slowness: 3,
  }));
});

/**
 * The adapter over a stand-in for microsandbox: machines are not isolated there, but the agent in them is the real one.
 * No machine of libkrun has run it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';

import { describe, expect, test, vi } from 'vitest';

import { OWN_MARK } from '#host';
import { tempDir, whyNoGuestRoot, type TempDir } from '#testing';
import { AgentClient } from '../../guest/agent-client.ts';
import { LibkrunBackend } from './libkrun-backend.ts';
import type { ExecEvent, ExecOptions, KrunMachine, MachineBuilder, Microsandbox, Patches } from './microsandbox.ts';

vi.setConfig({ testTimeout: 60_000 });

const { signal } = new AbortController();

class StandIn implements Microsandbox {
  readonly builds: Record<string, unknown>[] = [];
  readonly archives: { tag: string; files: string[]; manifest: unknown }[] = [];
  readonly destroyed: string[] = [];
  names: string[] = [];
  hasPrograms = true;
  beforeCreate: () => Promise<void> = async () => {};
  beforeDestroy: () => Promise<void> = async () => {};

  isInstalled() {
    return this.hasPrograms;
  }

  readonly Image = {
    load: async (archive: string, { tag }: { tag: string }) => {
      const files = execFileSync('tar', ['-tf', archive], { encoding: 'utf8' }).trim().split('\n');
      const manifest: unknown = JSON.parse(
        execFileSync('tar', ['-xOf', archive, 'manifest.json'], { encoding: 'utf8' }),
      );
      this.archives.push({ tag, files, manifest });
    },
  };

  readonly Sandbox = {
    builder: (name: string) => this.#builder(name),
    list: async () => ({
      sandboxes: this.names.map((name) => ({ name, destroy: async () => void this.destroyed.push(name) })),
    }),
  };

  /** Notes every word; the agent that is patched in is what the machine runs. */
  #builder(name: string): MachineBuilder {
    const build: Record<string, unknown> = { name };
    this.builds.push(build);
    const patches: Patches = {
      copyFile(source, target, { mode }) {
        build.agent = source;
        build.patch = [target, mode];
        return patches;
      },
    };
    const builder = new Proxy({} as MachineBuilder, {
      get: (_, word: string) => {
        if (word === 'then') return undefined;
        if (word === 'create') return () => this.beforeCreate().then(() => this.#machine(name, String(build.agent)));
        if (word === 'patch') return (configure: (given: Patches) => Patches) => (configure(patches), builder);
        return (value: unknown = true) => ((build[word] = value), builder);
      },
    });
    return builder;
  }

  #machine(name: string, agent: string): KrunMachine {
    let child: ReturnType<typeof spawn> | undefined;
    return {
      execStreamWith: async (_, configure) => {
        const args: string[] = [];
        const options: ExecOptions = {
          args: (given) => (args.push(...given), options),
          user: () => options,
          stdinPipe: () => options,
        };
        configure(options);
        child = spawn(agent, args, { stdio: ['pipe', 'pipe', 'pipe'] });
        return execStream(child);
      },
      metrics: async () => ({ memoryBytes: 5, vcpuTimeNs: 7_000_000, upperUsedBytes: null }),
      kill: async () => void child?.kill('SIGKILL'),
      destroy: () => this.beforeDestroy().then(() => void this.destroyed.push(name)),
    };
  }
}

function execStream(child: ReturnType<typeof spawn>): Awaited<ReturnType<KrunMachine['execStreamWith']>> {
  const events: ExecEvent[] = [{ kind: 'started', pid: 1 }];
  let wake = () => {};
  const add = (event: ExecEvent) => {
    events.push(event);
    wake();
  };
  child.stdout!.on('data', (data: Buffer) => add({ kind: 'stdout', data }));
  child.stderr!.on('data', (data: Buffer) => add({ kind: 'stderr', data }));
  child.on('close', (code) => add({ kind: 'exited', code: code ?? -1 }));
  return {
    async recv() {
      while (events.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return events.shift()!;
    },
    takeStdin: async () => ({
      async write(data) {
        if (!child.stdin!.write(data)) await once(child.stdin!, 'drain');
      },
      close: async () => void child.stdin!.end(),
    }),
  };
}

function backendOf(dir: TempDir, microsandbox: Microsandbox): LibkrunBackend {
  return new LibkrunBackend({ cacheDir: dir.root, find: () => 'here', load: async () => microsandbox });
}

test('without the package it says how to get it, and nothing is loaded', async () => {
  await using dir = await tempDir();
  const backend = new LibkrunBackend({ cacheDir: dir.root });
  expect(await backend.probe(signal)).toEqual({
    ok: false,
    reason: 'the package microsandbox is not installed: npm install microsandbox',
    stderrTail: '',
  });
  expect(backend.fingerprint()).toBe('');
  await backend.sweep();
});

test('without its programs, or where no machine starts, it says why', async () => {
  await using dir = await tempDir();
  const microsandbox = new StandIn();
  microsandbox.hasPrograms = false;
  const backend = backendOf(dir, microsandbox);
  expect(await backend.probe(signal)).toMatchObject({ ok: false, reason: expect.stringContaining('its programs') });

  microsandbox.hasPrograms = true;
  microsandbox.beforeCreate = () => Promise.reject(new Error('KVM_EXIT_INTERNAL_ERROR'));
  expect(await backend.probe(signal)).toMatchObject({ ok: false, reason: expect.stringContaining('KVM_EXIT') });
});

test('sweep destroys the machines of daemons that no longer live, and nobody else’s', async () => {
  await using dir = await tempDir();
  const microsandbox = new StandIn();
  microsandbox.names = ['workcell-999999999-1-a', `workcell-${OWN_MARK}-b`, 'mine', 'workcell-x'];
  await backendOf(dir, microsandbox).sweep();
  expect(microsandbox.destroyed).toEqual(['workcell-999999999-1-a']);
});

const why = whyNoGuestRoot();

describe.skipIf(why !== undefined)(`with an agent${why === undefined ? '' : ` (${why})`}`, () => {
  const shape = (dir: TempDir) => {
    mkdirSync(dir.path('root/bin'), { recursive: true });
    const image = { name: 'box', ref: 'box', digest: 'sha256:1a', rootDir: dir.path('root'), env: [] };
    return { image, cpus: 2, memoryMb: 256, diskMb: 64 };
  };

  test('the probe has an agent answer, and leaves no machine', async () => {
    await using dir = await tempDir();
    const microsandbox = new StandIn();
    expect(await backendOf(dir, microsandbox).probe(signal)).toEqual({
      ok: true,
      isolation: 'hardware-vm',
      detail: 'microsandbox',
    });
    expect(microsandbox.destroyed).toEqual([`workcell-${OWN_MARK}-probe`]);
  });

  test('an image is handed over once, as an archive that is gone afterwards', async () => {
    await using dir = await tempDir();
    const microsandbox = new StandIn();
    const backend = backendOf(dir, microsandbox);
    await Promise.all([backend.prepare(shape(dir), signal), backend.prepare(shape(dir), signal)]);
    await backend.prepare(shape(dir), signal);
    expect(microsandbox.archives).toEqual([
      {
        tag: 'workcell/sha256-1a:latest',
        files: ['manifest.json', 'config.json', 'layer.tar'],
        manifest: [{ Config: 'config.json', RepoTags: ['workcell/sha256-1a:latest'], Layers: ['layer.tar'] }],
      },
    ]);
    expect(readdirSync(dir.path('libkrun'))).toEqual([]);
  });

  test('a machine has the shape asked for and no network, runs commands, and ends when killed', async () => {
    await using dir = await tempDir();
    const microsandbox = new StandIn();
    const machine = await backendOf(dir, microsandbox).create(shape(dir), { id: '12345678-9', signal });
    expect(microsandbox.builds).toEqual([
      {
        name: `workcell-${OWN_MARK}-12345678-9`,
        image: 'workcell/sha256-1a:latest',
        pullPolicy: 'never',
        cpus: 2,
        memory: 256,
        rootDisk: 64,
        hostname: 'sandbox-12345678',
        disableNetwork: true,
        ephemeral: true,
        agent: expect.stringContaining('/agent-'),
        patch: ['/.workcell-agent', 0o755],
      },
    ]);

    const agent = await AgentClient.open(machine.channel, { deadlineMs: 15_000 });
    const done = await agent.exec({
      argv: ['/bin/sh', '-c', 'echo out; head -c 300000 /dev/zero | tr "\\0" x >&2; exit 3'],
      env: [['PATH', '/usr/bin:/bin']],
      cwd: '/',
      maxOutputBytes: 1_048_576,
      timeoutMs: 15_000,
      signal,
    });
    expect(done).toMatchObject({ kind: 'exited', exitCode: 3, stdout: Buffer.from('out\n') });
    expect(done.kind === 'exited' && done.stderr.length).toBe(300_000);
    expect(await machine.usage()).toEqual({ memoryBytes: 5, pids: 0, cpuMs: 7, diskBytes: 0, oomKills: 0 });

    await machine.kill();
    await machine.dispose();
    await machine.dispose();
    expect(await agent.closed).toMatchObject({ message: expect.stringContaining('gone') });
    expect(microsandbox.destroyed).toEqual([`workcell-${OWN_MARK}-12345678-9`]);
  });

  test('an agent that ends by itself takes the channel with it', async () => {
    await using dir = await tempDir();
    const machine = await backendOf(dir, new StandIn()).create(shape(dir), { id: 'x', signal });
    const agent = await AgentClient.open(machine.channel, { deadlineMs: 15_000 });
    machine.channel.end();
    expect(await machine.exited).toEqual({ code: 0, signal: null, stderrTail: '' });
    await agent.closed;
  });

  test('a machine that nobody waits for any more is destroyed when it comes', async () => {
    await using dir = await tempDir();
    const microsandbox = new StandIn();
    const leaver = new AbortController();
    let boot = () => {};
    microsandbox.beforeCreate = () => {
      leaver.abort(new Error('left'));
      return new Promise<void>((resolve) => (boot = resolve));
    };
    const making = backendOf(dir, microsandbox).create(shape(dir), { id: 'x', signal: leaver.signal });
    await expect(making).rejects.toThrow('left');
    expect(microsandbox.destroyed).toEqual([]);
    boot();
    await vi.waitFor(() => expect(microsandbox.destroyed).toEqual([`workcell-${OWN_MARK}-x`]));
  });

  test('one of those that cannot be destroyed takes nobody with it', async () => {
    await using dir = await tempDir();
    const microsandbox = new StandIn();
    const leaver = new AbortController();
    const tried = vi.fn(() => Promise.reject(new Error('busy')));
    microsandbox.beforeCreate = async () => leaver.abort(new Error('left'));
    microsandbox.beforeDestroy = tried;
    const unhandled = vi.fn();
    process.prependOnceListener('unhandledRejection', unhandled);
    try {
      const making = backendOf(dir, microsandbox).create(shape(dir), { id: 'x', signal: leaver.signal });
      await expect(making).rejects.toThrow('left');
      await vi.waitFor(() => expect(tried).toHaveBeenCalledOnce());
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });
});

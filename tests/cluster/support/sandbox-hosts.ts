/** Nodes with real sandboxes, as people start them: the built command line, namespaces, and an image of busybox alone. */
import { mkdirSync, writeFileSync } from 'node:fs';

import { connect, type Connection } from '#client';
import { CallError, silentLog } from '#contract';
import { openImages } from '#sandbox/images';
import { guestRoot, tempDir, type TempDir, whyNoGuestRoot } from '#testing';
import { exportTree } from '../../../src/sandbox/images/export-image.ts';
import { startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { shareProgramsIn } from '../../../src/testing/images/shared-programs.ts';
import { NatsServers, NO_NATS, type NatsOptions } from '../../../src/testing/nats.ts';

/** For `skipIf`; undefined where it runs. */
export const WHY_NOT = NO_NATS ? 'nats-server is missing' : whyNoGuestRoot();
export const IMAGE = 'tiny';
export const REF = 'localhost/tiny:1';

export interface Made {
  sandbox_id: string;
  node: string;
}

export interface HostOptions {
  /** Of the iii-sandbox block. */
  config?: Record<string, unknown>;
  words?: string[];
  /** With a cache of its own, without the image. */
  isBare?: boolean;
  role?: 'door' | 'host';
  /** Addresses of NATS; those of the cluster by default. */
  servers?: readonly string[];
  /** The block `cluster` of its configuration. */
  cluster?: Record<string, unknown>;
}

export class SandboxNode implements AsyncDisposable {
  readonly name: string;
  readonly cli: CliProcess;
  readonly bus: Connection;

  constructor(name: string, cli: CliProcess, bus: Connection) {
    this.name = name;
    this.cli = cli;
    this.bus = bus;
  }

  async call<Reply = Record<string, unknown>>(id: string, payload: unknown = {}, namespace?: string): Promise<Reply> {
    return (await this.bus.call(id, payload, { timeoutMs: 60_000, ...(namespace && { namespace }) })) as Reply;
  }

  create(more: object = {}): Promise<Made> {
    return this.call('sandbox::create', { image: IMAGE, ...more });
  }

  /** The output of a command in a sandbox. */
  async exec(sandbox_id: string, ...argv: string[]): Promise<string> {
    const { stdout } = await this.call<{ stdout: string }>('sandbox::exec', { sandbox_id, argv });
    return stdout;
  }

  /** The code and the message of a call that fails. */
  async failure(id: string, payload: unknown, namespace?: string): Promise<Record<string, unknown>> {
    try {
      return { noFailure: await this.call(id, payload, namespace) };
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return { code: error.code, message: error.message, ...error.extra };
    }
  }

  /** Names of the hosts that it knows, with free places. */
  async hosts(): Promise<string[]> {
    const { nodes } = await this.call<{ nodes: { name: string; state: string; sandboxes?: object }[] }>(
      'engine::nodes::list',
    );
    return nodes.filter(({ sandboxes }) => sandboxes).map(({ name, state }) => `${name} ${state}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.bus.close();
    await this.cli[Symbol.asyncDispose]();
  }
}

export class SandboxCluster implements AsyncDisposable {
  readonly nats: NatsServers;
  readonly dir: TempDir;
  readonly #nodes: SandboxNode[] = [];

  private constructor(nats: NatsServers, dir: TempDir) {
    this.nats = nats;
    this.dir = dir;
  }

  static async start(options?: NatsOptions): Promise<SandboxCluster> {
    const [nats, dir, root] = await Promise.all([NatsServers.start(options), tempDir({ 'work/': '' }), guestRoot()]);
    shareProgramsIn(dir.path('cache'));
    const { signal } = new AbortController();
    const made = await exportTree(
      { rootDir: root.root, settings: { env: ['PATH=/bin:/usr/bin'] } },
      { workDir: dir.path('work'), signal },
    );
    const pieces: Uint8Array[] = [];
    for await (const piece of made.bytes) pieces.push(piece);
    writeFileSync(dir.path('tiny.tar'), Buffer.concat(pieces));
    const block = {
      cache_dir: dir.path('cache'),
      custom_images: { [IMAGE]: REF },
      image_allowlist: [IMAGE],
      auto_install: true,
    };
    await openImages(block, silentLog).import(dir.path('tiny.tar'), REF, { signal });
    await root[Symbol.asyncDispose]();
    return new SandboxCluster(nats, dir);
  }

  async node(
    name: string,
    { config = {}, words = [], isBare = false, role, servers = this.nats.urls, cluster = {} }: HostOptions = {},
  ): Promise<SandboxNode> {
    const cache = this.dir.path(isBare ? `cache-${name}` : 'cache');
    if (isBare) shareProgramsIn(cache);
    const workspace = this.dir.path(`workspace-${name}`);
    mkdirSync(workspace, { recursive: true });
    const block = {
      backend: 'namespaces',
      cache_dir: cache,
      custom_images: { [IMAGE]: REF },
      image_allowlist: [IMAGE],
      prepare_images: false,
      default_memory_mb: 64,
      default_disk_mb: 16,
      max_total_percent: 1000,
      ...config,
    };
    const file = this.dir.path(`${name}.json`);
    const workers = [
      { name: 'shell', config: { allowlist: ['cat', 'sleep'] } },
      { name: 'iii-sandbox', config: block },
    ];
    writeFileSync(file, JSON.stringify({ cluster, workers }));
    const where = ['--config', file, '--workspace', workspace, '--port', '0'];
    const joining = ['--cluster', servers.join(','), '--node', name, ...(role ? ['--role', role] : [])];
    const cli = await startCli(['start', ...where, ...joining, ...words]);
    const node = new SandboxNode(name, cli, await connect(cli.url, { name: `test-${name}`, log: silentLog }));
    this.#nodes.push(node);
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node[Symbol.asyncDispose]()));
    await this.nats[Symbol.asyncDispose]();
    await this.dir[Symbol.asyncDispose]();
  }
}

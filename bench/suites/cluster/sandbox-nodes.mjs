/** Nodes with real sandboxes, started by the built command line, and an image of busybox alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { connect } from '#client';
import { silentLog } from '#contract';

import { BenchRoot } from '../sandbox/root.mjs';

const { exportTree, openImages } = {
  ...(await import('../../../dist/sandbox/images/export-image.js')),
  ...(await import('../../../dist/sandbox/images/index.js')),
};
const CLI = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
export const IMAGE = 'tiny';
const REF = 'localhost/tiny:1';
const IMAGES = { custom_images: { [IMAGE]: REF }, image_allowlist: [IMAGE], auto_install: true };

export class SandboxNodes {
  #root;
  #home;
  #stops = [];

  static async make() {
    const nodes = new SandboxNodes();
    nodes.#root = await BenchRoot.make();
    nodes.#home = dirname(nodes.#root.path);
    const { signal } = new AbortController();
    const workDir = join(nodes.#home, 'work');
    mkdirSync(workDir);
    const image = { rootDir: nodes.#root.path, settings: { env: ['PATH=/bin'] } };
    const pieces = [];
    for await (const piece of (await exportTree(image, { workDir, signal })).bytes) pieces.push(piece);
    const file = join(nodes.#home, 'tiny.tar');
    writeFileSync(file, Buffer.concat(pieces));
    await openImages({ ...IMAGES, cache_dir: nodes.#root.cacheDir }, silentLog).import(file, REF, { signal });
    return nodes;
  }

  /** Returns how to call it. */
  async start(name, server, ...words) {
    const workspace = join(this.#home, `workspace-${name}`);
    mkdirSync(workspace);
    const small = { default_memory_mb: 64, default_disk_mb: 16, max_total_percent: 1000 };
    const config = {
      ...IMAGES,
      ...small,
      backend: 'namespaces',
      cache_dir: this.#root.cacheDir,
      prepare_images: false,
    };
    const file = join(this.#home, `${name}.json`);
    writeFileSync(file, JSON.stringify({ workers: [{ name: 'iii-sandbox', config }] }));
    const where = ['--config', file, '--workspace', workspace, '--port', '0'];
    const child = spawn(process.execPath, [CLI, 'start', ...where, '--cluster', server, '--node', name, ...words], {
      env: { PATH: process.env.PATH, HOME: this.#home, WORKCELL_PRESET: 'iii' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#stops.push(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    });
    let said = '';
    for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      said += text;
      if (/ready on ws:\S+\n/.test(said)) break;
    }
    child.stdout.resume();
    const url = /ready on (ws:\S+)/.exec(said)?.[1];
    if (url === undefined) throw new Error(`node ${name} did not start: ${said}`);
    const bus = await connect(url, { log: silentLog });
    this.#stops.push(async () => bus.close());
    return (id, request, namespace) => bus.call(id, request, { timeoutMs: 60_000, ...(namespace && { namespace }) });
  }

  async stop() {
    for (const stop of this.#stops.toReversed()) await stop();
    this.#root.remove();
  }
}

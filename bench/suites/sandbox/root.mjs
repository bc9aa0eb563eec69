/** A root of busybox and a cache for the programs, both removed in the end. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { installed } from './peers.mjs';

export class BenchRoot {
  path;
  cacheDir;
  #home;

  static async make() {
    if (!installed('busybox', 'busybox-static'))
      throw new Error('busybox is missing; install the package busybox-static');
    const root = new BenchRoot();
    root.#home = mkdtempSync(join(tmpdir(), 'workcell-bench-'));
    root.path = join(root.#home, 'root');
    root.cacheDir = join(root.#home, 'cache');
    for (const name of ['bin', 'proc', 'dev', 'tmp', 'sys']) mkdirSync(join(root.path, name), { recursive: true });
    chmodSync(root.#home, 0o755);
    copyFileSync('/bin/busybox', join(root.path, 'bin/busybox'));
    const tools = execFileSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n');
    for (const tool of tools.filter((name) => name !== 'busybox')) {
      linkSync(join(root.path, 'bin/busybox'), join(root.path, 'bin', tool));
    }
    return root;
  }

  remove() {
    rmSync(this.#home, { recursive: true, force: true });
  }
}

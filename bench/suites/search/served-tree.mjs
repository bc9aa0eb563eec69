/** `workcell start` over a tree, in a process of its own, and a client of its bus in another. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Program } from '../../processes.mjs';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const CLIENT = fileURLToPath(new URL('./bus-client.mjs', import.meta.url));

export class ServedTree {
  #server;
  #client;
  #home;

  /** Resolves as soon as a client that waited for `ready` is connected: the next call is the first. */
  static async start(root) {
    const served = new ServedTree();
    served.#client = await Program.start(CLIENT);
    // No user's own configuration is read.
    served.#home = mkdtempSync(join(tmpdir(), 'workcell-bench-served-'));
    const env = { ...process.env, HOME: served.#home, XDG_CONFIG_HOME: served.#home, WORKCELL_CONFIG: '' };
    served.#server = spawn(
      process.execPath,
      [MAIN, 'start', '--port', '0', '--workspace', root, '--log-level', 'warn'],
      {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await served.#client.request({ url: await urlOf(served.#server) });
    return served;
  }

  /** Answers how long the call took and how many lines it found. */
  search(query, options = {}) {
    return this.#client.request({ query, ...options });
  }

  async stop() {
    await this.#client.stop();
    const exited = once(this.#server, 'exit');
    this.#server.kill('SIGTERM');
    await exited;
    rmSync(this.#home, { recursive: true, force: true });
  }
}

async function urlOf(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const [, url] = /^ready on (\S+)/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('workcell start ended before it was ready');
}

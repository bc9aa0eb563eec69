/**
 * Programs of a suite in processes of their own, spoken to over IPC: one request, one reply.
 *
 * A program exits when its IPC channel closes, so none outlives the benchmark.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as passed } from 'node:timers/promises';

const PATIENCE_MS = 60_000;
const GOODBYE_MS = 5_000;

/** The parent's end of a program. */
export class Program {
  /** The first message of the program, sent when it was ready. */
  ready;
  #child;

  /** Starts a module and waits until it says that it is ready. */
  static async start(moduleUrl, ...args) {
    const program = new Program();
    // Drops stdout, which would mix with the tables; keeps stderr.
    program.#child = fork(moduleUrl, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    program.ready = await program.#next();
    return program;
  }

  async request(message) {
    this.#child.send(message);
    return this.#next();
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), GOODBYE_MS);
    if (this.#child.connected) this.#child.disconnect();
    await exited;
    clearTimeout(timer);
  }

  async #next() {
    const over = new AbortController();
    const { signal } = over;
    const [, file] = this.#child.spawnargs;
    try {
      return await Promise.race([
        once(this.#child, 'message', { signal }).then(([message]) => message),
        once(this.#child, 'exit', { signal }).then(([code]) => {
          throw new Error(`${file} ended with ${code}`);
        }),
        passed(PATIENCE_MS, undefined, { signal }).then(() => {
          throw new Error(`${file} said nothing for ${PATIENCE_MS} ms`);
        }),
      ]);
    } finally {
      over.abort();
    }
  }
}

/** The program's own end: reports that it is ready and answers requests. A failed answer ends it. */
export function serveParent(ready, answer) {
  process.on('disconnect', () => process.exit());
  process.on('message', (message) => void reply(message));
  process.send(ready);

  async function reply(message) {
    process.send(await answer(message));
  }
}

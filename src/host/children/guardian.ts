/**
 * A small shell that outlives the server by a moment. It reads a pipe that the server holds open; when that ends,
 * by whatever death, it ends the jobs.
 *
 * It stands in a session of its own and ignores polite signals, so that what takes the server away leaves it. A job
 * can kill it, as it can kill the server; then there is a new one.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import { KILL_DEADLINE_MS } from './rung.ts';

/** One that lives shorter is not replaced before the next job: something is wrong with it. */
const MIN_LIFE_MS = 1000;
/** How often a script looks for what is left, as the words of a `for`. */
export const GUARDIAN_LOOKS = Array.from({ length: 30 }, (_, look) => look).join(' ');

export class Guardian {
  readonly #script: string;
  readonly #words: readonly string[];
  #shell: ChildProcessByStdio<Socket, null, null> | undefined;
  #told = '';
  #isClosed = false;

  /** The script runs after the end of the server, with `words` as $1 and so on and the last line told as $told. */
  constructor(script: string, words: readonly string[]) {
    this.#script = script;
    this.#words = words;
  }

  /** It is there when this returns; to be called before every job. */
  ensure(): void {
    if (this.#shell !== undefined) return;
    const program = `trap '' HUP INT TERM; told=; while read -r line; do told=$line; done; ${this.#script}`;
    const shell = spawn('/bin/sh', ['-c', program, 'workcell-guardian', ...this.#words], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    }) as ChildProcessByStdio<Socket, null, null>;
    // Without a pid there is nothing more to it; later errors are of its pipe, and its exit tells the same.
    shell.on('error', () => {});
    shell.stdin.on('error', () => {});
    if (shell.pid === undefined) throw new Error('jobs cannot be guarded: /bin/sh does not start');

    // Neither keeps the server alive.
    shell.unref();
    shell.stdin.unref();
    this.#shell = shell;
    this.#replaceAfterExit(performance.now());
    this.tell(this.#told);
  }

  /** Replaces what the script finds in $told: one line. */
  tell(line: string): void {
    this.#told = line;
    this.#shell?.stdin.write(`${line}\n`);
  }

  /** Lets it do its work and waits for its end; after the jobs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const shell = this.#shell;
    if (shell === undefined) return;
    shell.ref();
    const exited = once(shell, 'exit');
    const timer = setTimeout(() => shell.kill('SIGKILL'), KILL_DEADLINE_MS);
    shell.stdin.end();
    await exited;
    clearTimeout(timer);
  }

  #replaceAfterExit(startedAt: number): void {
    this.#shell!.once('exit', () => {
      this.#shell = undefined;
      if (!this.#isClosed && performance.now() - startedAt > MIN_LIFE_MS) this.ensure();
    });
  }
}

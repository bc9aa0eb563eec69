/**
 * A small shell that outlives the server by a moment. It reads a pipe that the server holds open; when the pipe closes,
 * however the server died, it kills the jobs.
 *
 * It has a session of its own and ignores HUP, INT and TERM, so that a signal to the server's group does not end it
 * too. A job can kill it, as it can kill the server; the server then starts a new one.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import { KILL_DEADLINE_MS } from './containment.ts';

/** A guardian that ends sooner is faulty: it is not replaced before the next job. */
const MIN_LIFE_MS = 1000;
/** How often a script polls for survivors, as the words of a `for`. */
export const GUARDIAN_SCANS = Array.from({ length: 30 }, (_, scan) => scan).join(' ');

export class Guardian {
  readonly #script: string;
  readonly #words: readonly string[];
  #shell: ChildProcessByStdio<Socket, null, null> | undefined;
  #lastLine = '';
  #isClosed = false;

  /** `script` runs after the server has ended: `words` are $1 and so on, the last line of `setLine` is $last_line. */
  constructor(script: string, words: readonly string[]) {
    this.#script = script;
    this.#words = words;
  }

  /** Starts the guardian if it is not running; call it before every job. */
  ensure(): void {
    if (this.#shell !== undefined) return;
    const program = `trap '' HUP INT TERM; last_line=; while read -r line; do last_line=$line; done; ${this.#script}`;
    const shell = spawn('/bin/sh', ['-c', program, 'workcell-guardian', ...this.#words], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    }) as ChildProcessByStdio<Socket, null, null>;
    // Ignored: a missing pid shows that the shell never started, and its exit reports a broken pipe.
    shell.on('error', () => {});
    shell.stdin.on('error', () => {});
    if (shell.pid === undefined) throw new Error('jobs cannot be guarded: /bin/sh does not start');

    // Neither the shell nor its pipe keeps the server alive.
    shell.unref();
    shell.stdin.unref();
    this.#shell = shell;
    this.#replaceAfterExit(performance.now());
    this.setLine(this.#lastLine);
  }

  /** Replaces $last_line of the script; one line. */
  setLine(line: string): void {
    this.#lastLine = line;
    this.#shell?.stdin.write(`${line}\n`);
  }

  /** Lets the script run and waits until it ends; call it after the jobs. */
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

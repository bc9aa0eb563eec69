/**
 * Sandboxes of another user: that user's daemon in a process of its own, with a C program of the test in the image.
 *
 * Only root can become another user, so each test that uses it gives the reason for its skip.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

import { copyPrograms, guestRoot, tempDir, type TempDir } from '#testing';

const DAEMON = fileURLToPath(new URL('sandbox-daemon.mjs', import.meta.url));

/** The outcome of a command. */
export interface Outcome {
  kind: string;
  exitCode?: number;
  stdout?: string;
  stderrTail?: string;
}

export interface Asked {
  backend: string;
  uid: number;
  /** One per sandbox. */
  scripts: readonly string[];
  /** Time limit of each before the next begins. */
  waitMs: number;
}

export class UserSandboxes implements AsyncDisposable {
  /** Path of the test's program on the host. */
  readonly program: string;
  readonly #root: TempDir;
  readonly #home: TempDir;

  private constructor([root, home]: readonly [TempDir, TempDir], program: string) {
    this.#root = root;
    this.#home = home;
    this.program = program;
  }

  /** `source` is a C file beside the tests; in the image it is a program of the same name. */
  static async prepare(source: string): Promise<UserSandboxes> {
    const dirs = await Promise.all([guestRoot(), tempDir()]);
    const [root, home] = dirs;
    copyPrograms(home.root);
    const program = root.path(`bin/${basename(source, '.c')}`);
    execFileSync('gcc', ['-static', '-O1', '-w', '-o', program, fileURLToPath(new URL(source, import.meta.url))]);
    for (const dir of dirs) chmodSync(dir.root, 0o755);
    return new UserSandboxes(dirs, program);
  }

  start({ backend, uid, scripts, waitMs }: Asked): ChildProcess {
    execFileSync('chown', ['-R', `${uid}:${uid}`, this.#root.root, this.#home.root]);
    const args = [DAEMON, backend, this.#home.root, this.#root.root, String(scripts.length), ...scripts];
    return spawn('setpriv', [...asUser(uid), process.execPath, ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, WAIT_MS: String(waitMs) },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const dir of [this.#root, this.#home]) await dir[Symbol.asyncDispose]();
  }
}

/** Options of setpriv. */
export function asUser(uid: number): string[] {
  return [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
}

/** The daemon's report after all requests. */
export async function outcomesOf(daemon: ChildProcess): Promise<Outcome[]> {
  const signal = AbortSignal.timeout(200_000);
  const ended = once(daemon, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  ended.catch(() => {});
  const [report] = (await Promise.race([once(daemon, 'message', { signal }), ended])) as [{ outcomes: Outcome[] }];
  return report.outcomes;
}

/** The test's end of `shell-orphans-server.mjs`, which runs the build in `dist`. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ownProcess from 'node:process';
import { fileURLToPath } from 'node:url';

import { afterAll } from 'vitest';

import type { ChildSpec, Containment } from '#host';

const PROGRAM = fileURLToPath(new URL('shell-orphans-server.mjs', import.meta.url));
const PATIENCE_MS = 120_000;

interface ServerOptions {
  uid?: number;
  /** How terminals are made. */
  terminals?: 'best' | 'script';
  isFenced?: boolean;
}

export class ChildrenServer {
  readonly containment: Containment;
  readonly #process: ChildProcess;
  readonly #replies = new Map<number, (result: unknown) => void>();
  #count = 0;

  private constructor(process: ChildProcess, containment: Containment) {
    this.#process = process;
    this.containment = containment;
    process.on('message', ({ number, result }: { number: number; result: unknown }) => {
      this.#replies.get(number)!(result);
      this.#replies.delete(number);
    });
  }

  /** Rejects when this rung does not work here. */
  static async start(containment: Containment | 'best', { uid, isFenced, terminals = 'best' }: ServerOptions = {}) {
    const workspace = isFenced ? workspaceOf(uid) : undefined;
    const process = fork(PROGRAM, [containment, terminals, ...(workspace ? [workspace] : [])], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      ...(uid === undefined ? {} : { uid, gid: uid }),
      ...(workspace && { env: { ...ownProcess.env, HOME: '/nonexistent', XDG_CACHE_HOME: cacheOf(uid) } }),
    });
    if (workspace) process.once('exit', () => remove(workspace));
    let complaint = '';
    process.stderr!.on('data', (chunk) => (complaint += String(chunk)));
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const [ready] = await Promise.race([once(process, 'message', { signal }), once(process, 'exit', { signal })]);
    if (!ready.containment) throw new Error(`the server did not start: ${complaint}`);
    return new ChildrenServer(process, ready.containment);
  }

  start(job: number, spec: Omit<ChildSpec, 'stdin' | 'ring' | 'onPiece'> & { ringBytes?: number }): Promise<unknown> {
    return this.#ask('start', { job, spec });
  }

  done(job: number): Promise<unknown> {
    return this.#ask('done', { job });
  }

  kill(job: number): Promise<unknown> {
    return this.#ask('kill', { job });
  }

  /** In bytes: its current memory, and the peak since the last call. */
  async memory(): Promise<{ rss: number; peak: number }> {
    return (await this.#ask('memory', {})) as { rss: number; peak: number };
  }

  async close(): Promise<void> {
    await this.#ask('close', {});
    await this.die('disconnect');
  }

  /** By a signal, or by letting go of it: then it exits without closing anything. */
  async die(how: NodeJS.Signals | 'disconnect'): Promise<void> {
    const exited = once(this.#process, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (how === 'disconnect') this.#process.disconnect();
    else this.#process.kill(how);
    await exited;
  }

  /** By SIGKILL, with the shell that would end its jobs. */
  async dieUnguarded(): Promise<void> {
    const pid = this.#process.pid!;
    // So that it starts no other guardian meanwhile.
    process.kill(pid, 'SIGSTOP');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    const guardians = children.filter((child) =>
      readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('workcell-guardian'),
    );
    for (const guardian of guardians) process.kill(guardian, 'SIGKILL');
    await this.die('SIGKILL');
  }

  #ask(command: string, words: object): Promise<unknown> {
    const number = this.#count++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no reply to ${command} ${JSON.stringify(words)}`)), PATIENCE_MS);
      this.#replies.set(number, (result) => {
        clearTimeout(timer);
        resolve(result);
      });
      this.#process.send({ number, command, ...words });
    });
  }
}

/** For a fence. */
function workspaceOf(uid: number | undefined): string {
  const workspace = mkdtempSync(join(tmpdir(), 'orphans-'));
  chmodSync(workspace, 0o755);
  if (uid !== undefined) chownSync(workspace, uid, uid);
  return workspace;
}

/** One for all servers of a user: each would compile the programs of the fence again. */
const caches = new Map<number | undefined, string>();
afterAll(() => {
  for (const cache of caches.values()) remove(cache);
  caches.clear();
});

function cacheOf(uid: number | undefined): string {
  const made = caches.get(uid) ?? workspaceOf(uid);
  caches.set(uid, made);
  return made;
}

const remove = (folder: string) => rmSync(folder, { recursive: true, force: true });

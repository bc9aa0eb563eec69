/** The namespaces that the commands of a server share, and the process that keeps their network. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';

import type { MountedLayer } from '#host';
import { FenceError } from './fence-error.ts';

const DEADLINE_MS = 10_000;

const FIX: string =
  'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces, ' +
  'kernel.apparmor_restrict_unprivileged_userns=0), run outside of a container that forbids them, or start with fence: off';

type Process = ChildProcessByStdio<Socket, Socket, Socket>;

export class Holder {
  /** Advice to the operator if the system refuses. */
  static readonly fix = FIX;
  /** Descriptors of the user, mount, network and IPC namespace, in the order in which the launcher expects them. */
  readonly descriptors: readonly number[];
  readonly #process: Process;

  private constructor(process: Process, descriptors: readonly number[]) {
    this.#process = process;
    this.descriptors = descriptors;
  }

  /** Rejects with a `FenceError` where the system refuses. */
  static async start(launcher: string, options: readonly string[], layer?: MountedLayer): Promise<Holder> {
    const holder = spawn(launcher, ['hold', ...options, ...(layer ? viewWords(layer) : [])], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(layer?.namespaces ?? [])],
    }) as Process;
    holder.on('error', () => {});
    holder.stdin.on('error', () => {});
    let problem = '';
    holder.stderr.setEncoding('utf8').on('data', (text: string) => (problem += text));
    const timer = setTimeout(() => holder.kill('SIGKILL'), DEADLINE_MS);
    const line = await firstLine(holder).finally(() => clearTimeout(timer));
    const builder = /^ok (\d+)\n$/.exec(line)?.[1];
    if (builder === undefined || holder.pid === undefined) {
      holder.kill('SIGKILL');
      throw new FenceError(problem.trim() || 'the fence was not built in time', Holder.fix);
    }
    const descriptors = [`${holder.pid}/ns/user`, `${builder}/ns/mnt`, `${holder.pid}/ns/net`, `${builder}/ns/ipc`].map(
      (path) => openSync(`/proc/${path}`, 'r'),
    );
    for (const handle of [holder, holder.stdin, holder.stdout, holder.stderr]) handle.unref();
    return new Holder(holder, descriptors);
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Folder of /proc that shows its network. */
  get network(): string {
    return `/proc/${this.#process.pid}/net`;
  }

  async close(): Promise<void> {
    for (const descriptor of this.descriptors) closeSync(descriptor);
    if (!this.isAlive) return;
    this.#process.ref();
    const exited = once(this.#process, 'exit');
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), DEADLINE_MS);
    this.#process.stdin.end();
    await exited;
    clearTimeout(timer);
  }
}

/** The descriptors of a layer's namespaces as arguments of the launcher. Root has no user namespace for them. */
function viewWords({ mount }: MountedLayer): string[] {
  return [...(mount === 'overlay-user' ? ['--view-user', '3'] : []), '--view-mounts', '4'];
}

async function firstLine(holder: Process): Promise<string> {
  const closed = new Promise<string>((resolve) => holder.once('close', () => resolve('')));
  const failed = new Promise<string>((resolve) => holder.once('error', () => resolve('')));
  const printed = once(holder.stdout, 'data').then(([bytes]) => String(bytes));
  return await Promise.race([printed, closed, failed]);
}

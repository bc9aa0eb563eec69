/** One pid namespace, from `unshare` to its end. */
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import { findProgram } from '../find-program.ts';
import { KILL_DEADLINE_MS, type Command } from './containment.ts';

const MAKE_DEADLINE_MS = 10_000;
const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The programs of util-linux that make namespaces and enter them. */
export class NamespaceTools {
  readonly unshare = findTool('unshare');
  readonly nsenter = findTool('nsenter');
  /** A user other than root makes a user namespace first, where the system allows it. */
  readonly asUser = process.getuid!() !== 0;
}

export class PidNamespace {
  readonly #tools: NamespaceTools;
  /** `unshare`: it waits for the first process, which waits for all others. */
  readonly #maker: ChildProcess;

  private constructor(tools: NamespaceTools, maker: ChildProcess) {
    this.#tools = tools;
    this.#maker = maker;
  }

  /** Resolves when the namespace has its first process: a process that enters an empty one becomes pid 1. */
  static async make(tools: NamespaceTools): Promise<PidNamespace> {
    const asUser = tools.asUser ? ['--user', '--map-current-user'] : [];
    const maker = spawn(
      tools.unshare,
      [...asUser, '--pid', '--mount-proc', '--fork', '--kill-child', '--', '/bin/sh', '-c', 'echo && exec cat'],
      { cwd: '/', env: { PATH: TOOL_PATH }, detached: true, stdio: ['pipe', 'pipe', 'ignore'] },
    ) as ChildProcessByStdio<Socket, Socket, null>;
    const timer = setTimeout(() => maker.kill('SIGKILL'), MAKE_DEADLINE_MS);
    const [line] = await Promise.race([once(maker.stdout, 'data'), once(maker, 'exit')]).finally(() => {
      clearTimeout(timer);
    });
    if (!Buffer.isBuffer(line)) throw new Error('this user may not make pid namespaces here');

    for (const handle of [maker, maker.stdin, maker.stdout]) handle.unref();
    return new PidNamespace(tools, maker);
  }

  get isAlive(): boolean {
    return this.#maker.exitCode === null && this.#maker.signalCode === null;
  }

  /** The argv that runs a command inside. */
  enter({ argv, cwd }: Pick<Command, 'argv' | 'cwd'>): string[] {
    const { nsenter, unshare, asUser } = this.#tools;
    const handle = (name: string) => `/proc/${this.#maker.pid}/ns/${name}`;
    const user = asUser ? [`--user=${handle('user')}`, '--preserve-credentials'] : [];
    const enter = [nsenter, ...user, `--mount=${handle('mnt')}`, `--pid=${handle('pid_for_children')}`, '--'];
    // The working directory has to be entered from inside; `unshare --wd` does that, and does nothing else here.
    return [...enter, unshare, `--wd=${cwd}`, '--', ...argv];
  }

  /** False when it has not ended by the deadline. */
  async end(): Promise<boolean> {
    if (!this.isAlive) return true;
    this.#maker.ref();
    const ended = once(this.#maker, 'exit', { signal: AbortSignal.timeout(KILL_DEADLINE_MS) });
    this.#maker.stdin!.end();
    return await ended.then(
      () => true,
      () => false,
    );
  }
}

function findTool(name: string): string {
  return findProgram({ argv: [name], cwd: '/', env: { PATH: TOOL_PATH } });
}

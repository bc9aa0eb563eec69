/** A node in another process, which a test kills, stops and asks. */
import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('node-process.mjs', import.meta.url));

export interface Storm {
  calls: number;
  ok: number;
  codes: Record<string, number>;
  /** Keys of the calls that failed, by code. */
  failed: Record<string, string[]>;
  longestMs: number;
  /** 0 when none failed. */
  lastFailureAt: number;
}

interface ProcessOptions {
  /** By how much its clock is ahead. */
  clockMs?: number;
}

export class NodeProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #number = 0;

  private constructor(name: string, servers: readonly string[], { clockMs = 0 }: ProcessOptions) {
    this.child = fork(PROGRAM, [name, servers.join(','), String(clockMs)], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child.on('message', ({ number, result, error }: { number: number; result: never; error?: string }) => {
      const waiting = this.#waiting.get(number);
      this.#waiting.delete(number);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
    this.child.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`node ${name} ended`));
    });
  }

  static async start(name: string, servers: readonly string[], options: ProcessOptions = {}): Promise<NodeProcess> {
    const node = new NodeProcess(name, servers, options);
    await node.#answer(0);
    return node;
  }

  ask<T>(operation: string, given?: object): Promise<T> {
    const number = ++this.#number;
    this.child.send({ number, operation, given });
    return this.#answer(number);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  #answer<T>(number: number): Promise<T> {
    return new Promise((resolve, reject) => this.#waiting.set(number, { resolve, reject }));
  }
}

/**
 * The answers of a storm through a fault that ends calls: how many there were, how many failed with a code that a fault may
 * have, and whether one of those ran that were reported as not run.
 */
export async function verdict({ calls, ok, failed }: Storm, countOf: (keys: string[]) => Promise<number>) {
  const { invocation_stopped: stopped = [], channel_send_failed: unsent = [], ...others } = failed;
  return {
    answered: ok + stopped.length + unsent.length === calls,
    others,
    ranAndWasReportedUnsent: await countOf(unsent),
    /** For the reader of a failure: these may have run. */
    ranAndWasStopped: await countOf(stopped),
  };
}

/** Waits until a node knows the functions of the named ones. */
export async function untilKnown(node: NodeProcess, ...names: string[]): Promise<void> {
  for (let left = 600; left > 0; left--) {
    const known = await node.ask<string[]>('peers');
    if (names.every((name) => known.includes(name))) return;
    await sleep(50);
  }
  throw new Error(`not known: ${names.join(', ')}`);
}

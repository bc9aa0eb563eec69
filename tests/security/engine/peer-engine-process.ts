/** Starts an engine of `dist` in a process of its own, and reads its figures. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { EngineLimits } from '#engine';

const DEADLINE_MS = 30_000;

export interface EngineFigures {
  rss: number;
  heapUsed: number;
  arrayBuffers: number;
  /** The most the process ever had, as the kernel counts it. */
  peakRss: number;
  /** Resources that keep its event loop alive, by kind. */
  resources: string[];
  isPolluted: boolean;
}

export class EngineProcess implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  static async start(limits: Partial<EngineLimits> = {}): Promise<EngineProcess> {
    const entry = fileURLToPath(new URL('peer-engine-process.mjs', import.meta.url));
    const child = fork(entry, [JSON.stringify(limits)], { execArgv: ['--expose-gc'] });
    const [{ url }] = (await once(child, 'message', { signal: AbortSignal.timeout(DEADLINE_MS) })) as [{ url: string }];
    return new EngineProcess(child, url);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Collects the engine's garbage and reads its figures. */
  async figures(): Promise<EngineFigures> {
    const answered = once(this.#child, 'message', { signal: AbortSignal.timeout(DEADLINE_MS) });
    this.#child.send('figures');
    return ((await answered) as [EngineFigures])[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isAlive) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

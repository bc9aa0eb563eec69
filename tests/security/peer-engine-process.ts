/** Starts an engine in a process of its own from the sources as they are, and reads its figures. */
import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { EngineLimits } from '#engine';

const root = fileURLToPath(new URL('../..', import.meta.url));
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

/** The engine's sources as plain JavaScript in a folder of their own: Node 20 does not run TypeScript. */
export async function buildEngine(): Promise<{ folder: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'workcell-engine-'));
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.build.json'),
      compilerOptions: { outDir: folder, rootDir: join(root, 'src'), incremental: false, noCheck: true },
      files: [join(root, 'src/engine/index.ts')],
      include: [],
    }),
  );
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', imports: { '#*': './*/index.js' } }));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

export class EngineProcess implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  static async start(folder: string, limits: Partial<EngineLimits> = {}): Promise<EngineProcess> {
    const entry = fileURLToPath(new URL('peer-engine-process.mjs', import.meta.url));
    const child = fork(entry, [folder, JSON.stringify(limits)], { execArgv: ['--expose-gc'] });
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

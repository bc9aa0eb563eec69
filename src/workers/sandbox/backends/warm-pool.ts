/**
 * Keeps machines ready for recently requested shapes, so that the next one needs no start.
 *
 * A pooled machine is greeted and unused, and is personalized only on hand-out. The pool is an optimization: it drops
 * its machines when the host runs short of memory, and without a pooled machine the backend starts one.
 */
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';

import { silentLog, type Log } from '#contract';
import { AgentClient } from '#sandbox/guest';
import type { Isolation } from '../isolation.ts';
import type { Instance, SandboxBackend, Shape } from './backend.ts';
import { warmUp } from './warm-up.ts';
import { withDeadline } from './with-deadline.ts';

/** Shapes that machines are kept for; the least recently requested one is dropped. */
const MAX_SHAPES = 4;

/** Below this share of available memory the host counts as short of memory. */
const LOW_PART = 0.1;
const POLL_MS = 5_000;

/** Generous, because no caller waits for it. */
const WARM_UP_MS = 60_000;

/** Timeout for a pooled machine to answer; a slower one is not handed out. */
const HAND_OUT_MS = 5_000;

/** A machine whose agent was greeted before it was needed. */
interface Greeted {
  readonly instance: Instance;
  readonly agent: AgentClient;
}

interface Shelf {
  readonly key: string;
  readonly shape: Shape;
  readonly idle: Set<Greeted>;
  isFilling: boolean;
}

export interface WarmPoolOptions {
  /** Machines kept per shape; 0 for none. */
  readonly minIdle: number;
  readonly log?: Log;
  readonly isMemoryLow?: () => boolean;
  readonly pollMs?: number;
}

export class WarmPool implements SandboxBackend {
  readonly name: string;
  readonly rung: string;
  readonly isolation: Isolation;
  readonly #backend: SandboxBackend;
  readonly #minIdle: number;
  readonly #log: Log;
  readonly #isMemoryLow: () => boolean;
  /** Shelves by shape, the most recently requested last. */
  readonly #shelves = new Map<string, Shelf>();
  readonly #closing = new AbortController();
  readonly #watch: NodeJS.Timeout;
  /**
   * Fills one shelf after another: machines that start at the same time slow down each other and those that a caller
   * waits for.
   */
  #filling: Promise<void> = Promise.resolve();
  readonly #endings = new Set<Promise<void>>();

  constructor(backend: SandboxBackend, options: WarmPoolOptions) {
    const { minIdle, log = silentLog, isMemoryLow = memoryIsLow, pollMs = POLL_MS } = options;
    this.#backend = backend;
    this.name = backend.name;
    this.rung = backend.rung;
    this.isolation = backend.isolation;
    this.#minIdle = minIdle;
    this.#log = log;
    this.#isMemoryLow = isMemoryLow;
    this.#watch = setInterval(() => this.#endIdleWhenLow(), pollMs);
    this.#watch.unref();
  }

  fingerprint = () => this.#backend.fingerprint();
  probe = (signal: AbortSignal) => this.#backend.probe(signal);
  prepare = (shape: Shape, signal: AbortSignal) => this.#backend.prepare(shape, signal);
  sweep = () => this.#backend.sweep();

  async create(shape: Shape, options: { id: string; signal: AbortSignal }): Promise<Instance> {
    const shelf = this.#shelfFor(await keyOf(shape), shape);
    const instance = (await this.#take(shelf)) ?? (await this.#backend.create(shape, options));
    this.#fill(shelf);
    return instance;
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    this.#closing.abort(new Error('the pool was closed'));
    await this.#filling;
    this.#endAllIdle();
    await Promise.all(this.#endings);
    await this.#backend.close();
  }

  #shelfFor(key: string, shape: Shape): Shelf {
    const shelf = this.#shelves.get(key) ?? { key, shape, idle: new Set(), isFilling: false };
    this.#shelves.delete(key);
    this.#shelves.set(key, shelf);
    if (this.#shelves.size > MAX_SHAPES) {
      const [oldest] = this.#shelves.keys();
      this.#endIdle(this.#shelves.get(oldest!)!);
      this.#shelves.delete(oldest!);
    }
    return shelf;
  }

  /** Takes a pooled machine that answers, and personalizes it. */
  async #take({ idle }: Shelf): Promise<Instance | undefined> {
    for (const greeted of idle) {
      idle.delete(greeted);
      try {
        await introduce(greeted, HAND_OUT_MS);
        return handedOut(greeted);
      } catch (error) {
        this.#log.warn('a pooled machine did not answer', { backend: this.rung, why: String(error) });
        this.#end(greeted);
      }
    }
    return undefined;
  }

  #fill(shelf: Shelf): void {
    if (shelf.isFilling || this.#minIdle === 0) return;
    shelf.isFilling = true;
    this.#filling = this.#filling
      .then(() => this.#fillNow(shelf))
      .catch((error: unknown) => this.#log.warn('could not start a pooled machine', { why: String(error) }))
      .finally(() => (shelf.isFilling = false));
  }

  async #fillNow(shelf: Shelf): Promise<void> {
    const { signal } = this.#closing;
    const isWanted = () => !signal.aborted && this.#shelves.get(shelf.key) === shelf && !this.#isMemoryLow();
    while (shelf.idle.size < this.#minIdle && isWanted()) {
      const greeted = await this.#makeIdle(shelf.shape, signal);
      if (!isWanted()) return this.#end(greeted);
      shelf.idle.add(greeted);
      void greeted.agent.closed.then(() => {
        if (shelf.idle.delete(greeted)) this.#end(greeted);
      });
    }
  }

  async #makeIdle(shape: Shape, signal: AbortSignal): Promise<Greeted> {
    const instance = await this.#backend.create(shape, { id: randomUUID(), signal });
    try {
      const agent = await AgentClient.open(instance.channel, { deadlineMs: WARM_UP_MS, signal });
      const greeted = { instance, agent };
      // Rehearses twice, so that the real personalization is fast; the second rehearsal replaces an existing machine
      // id, as the real one does.
      await introduce(greeted, WARM_UP_MS);
      await warmUp(agent, { timeoutMs: WARM_UP_MS, signal });
      await introduce(greeted, WARM_UP_MS);
      return greeted;
    } catch (error) {
      await end(instance);
      throw error;
    }
  }

  #endIdleWhenLow(): void {
    if (this.#isMemoryLow()) this.#endAllIdle();
  }

  #endAllIdle(): void {
    for (const shelf of this.#shelves.values()) this.#endIdle(shelf);
  }

  #endIdle({ idle }: Shelf): void {
    for (const greeted of idle) this.#end(greeted);
    idle.clear();
  }

  #end({ instance }: Greeted): void {
    const ending = end(instance)
      .catch((error: unknown) => this.#log.error('a pooled machine was not cleaned up', { why: String(error) }))
      .finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
  }
}

/** Personalizes the machine. Rejects when it does not answer in time. */
async function introduce({ instance, agent }: Greeted, deadlineMs: number): Promise<void> {
  const lost = agent.closed.then((reason) => Promise.reject(reason));
  await withDeadline(deadlineMs, Promise.race([instance.personalize?.(agent), lost]));
}

/** The machine without `personalize`: the pool did that, and the receiver must not do it again. */
function handedOut({ instance, agent }: Greeted): Instance {
  const { channel, pid, exited } = instance;
  const calls = { usage: () => instance.usage(), kill: () => instance.kill(), dispose: () => instance.dispose() };
  return { agent, channel, pid, exited, ...calls };
}

async function end(instance: Instance): Promise<void> {
  await instance.kill();
  await instance.dispose();
}

/** Includes a mark of the image's tree, because after a rebuild a pooled machine still has the old tree. */
async function keyOf({ image, cpus, memoryMb, diskMb }: Shape): Promise<string> {
  const tree = statSync(await image.directory(), { throwIfNoEntry: false });
  return JSON.stringify([image.digest, tree?.ino, tree?.ctimeMs, cpus, memoryMb, diskMb]);
}

function memoryIsLow(): boolean {
  return freemem() < totalmem() * LOW_PART;
}

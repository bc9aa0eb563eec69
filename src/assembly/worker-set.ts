/**
 * The workers of this process, kept equal to the configuration.
 *
 * Contexts are opened before anything is registered, and the new worker is registered before the old one stops: a bad
 * block changes nothing, and no call falls between the two.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { connect, type Connection } from '#client';
import type { AnyWorker, Log, Metric } from '#contract';
import type { Dialer } from '#protocol';
import { version } from '#version';
import type { WorkerEntry } from './config-file.ts';

interface OpenedWorker {
  def: AnyWorker;
  namespace?: string;
  /** The configuration it runs with, for comparison. */
  fingerprint: string;
  context: unknown;
}

interface RunningWorker extends OpenedWorker {
  connection: Connection;
}

const WorkerList = z.object({ workers: z.array(z.object({ id: z.string(), functions: z.array(z.string()) })) });

/** Time that running calls of a replaced worker have to end. */
const GRACE_MS = 5_000;

export class WorkerSet {
  readonly #dialer: Dialer;
  readonly #log: Log;
  readonly #prepares: boolean;
  readonly #preparing = new Set<Promise<void>>();
  #running = new Map<string, RunningWorker>();

  /** `prepares`: whether workers prepare for calls in advance, as in a long-running server. */
  constructor(dialer: Dialer, log: Log, { prepares = false } = {}) {
    this.#dialer = dialer;
    this.#log = log;
    this.#prepares = prepares;
  }

  get names(): string[] {
    return [...this.#running.keys()];
  }

  /** Resolves when the workers are prepared, at the latest after `mostMs`. */
  async prepared(mostMs: number): Promise<void> {
    await Promise.race([Promise.all(this.#preparing), sleep(mostMs, undefined, { ref: false })]);
  }

  /**
   * Starts new workers, restarts changed ones, stops removed ones. Resolves once all are registered. A worker whose
   * functions are all denied does not run.
   */
  async apply(listed: readonly WorkerEntry[]): Promise<void> {
    const entries = listed.filter(({ def, denial }) => def.functions.length > 0 || !denial);
    const fresh = entries.filter((entry) => this.#running.get(nameOf(entry))?.fingerprint !== fingerprint(entry));
    const opened = await this.#openAll(fresh);
    const registered = await this.#registerAll(opened);

    const wanted = new Set(entries.map(nameOf));
    const former = [...this.#running].filter(([name]) => !wanted.has(name) || registered.has(name));
    for (const [name] of former) this.#running.delete(name);
    for (const [name, worker] of registered) this.#running.set(name, worker);
    for (const [name, worker] of former) {
      // New calls go to its replacement; it finishes its running ones.
      if (registered.has(name)) await worker.connection.finish(GRACE_MS);
      await stop(worker);
    }
  }

  /** Metrics of all workers, each sample with its worker and namespace. */
  async metrics(): Promise<Metric[]> {
    const all = await Promise.all([...this.#running.values()].map((worker) => this.#metricsOf(worker)));
    return all.flat();
  }

  async close(): Promise<void> {
    const workers = [...this.#running.values()];
    this.#running.clear();
    for (const worker of workers) await stop(worker);
  }

  async #openAll(entries: WorkerEntry[]): Promise<Map<string, OpenedWorker>> {
    const opened = new Map<string, OpenedWorker>();
    try {
      for (const entry of entries) {
        const context = await entry.def.open(entry.config, this.#log, entry.cell);
        const { def, namespace } = entry;
        opened.set(nameOf(entry), { def, namespace, fingerprint: fingerprint(entry), context });
      }
      // After all have opened: workers may share an index that one of them prepares.
      if (this.#prepares) for (const { def, context } of opened.values()) this.#prepare(def, context);
      return opened;
    } catch (error) {
      for (const { def, context } of opened.values()) await def.close(context);
      throw error;
    }
  }

  /** Skips a worker whose metrics fail: those of the others are still reported. */
  async #metricsOf({ def, namespace = 'default', context }: RunningWorker): Promise<Metric[]> {
    const around = { worker: def.name, namespace };
    try {
      const metrics = await def.metrics(context);
      return metrics.map((metric) => ({
        ...metric,
        samples: metric.samples.map((sample) => ({ ...sample, labels: { ...around, ...sample.labels } })),
      }));
    } catch (error) {
      this.#log.warn('a worker could not report its metrics', { ...around, error });
      return [];
    }
  }

  #prepare(def: AnyWorker, context: unknown): void {
    const done = def
      .prepare(context)
      .catch((error: unknown) => this.#log.warn('a worker could not prepare for calls', { worker: def.name, error }))
      .finally(() => this.#preparing.delete(done));
    this.#preparing.add(done);
  }

  /** Registers all or none: if one fails, those registered before it leave again, and the old ones stay. */
  async #registerAll(opened: Map<string, OpenedWorker>): Promise<Map<string, RunningWorker>> {
    const registered = new Map<string, RunningWorker>();
    try {
      for (const [name, worker] of opened) {
        const connection = await this.#connect(worker);
        registered.set(name, { ...worker, connection });
        await serve(worker, connection);
        this.#log.debug('a worker runs', { worker: name, functions: worker.def.functions.length });
      }
      return registered;
    } catch (error) {
      for (const { connection } of registered.values()) connection.close();
      for (const { def, context } of opened.values()) await def.close(context);
      throw error;
    }
  }

  #connect(worker: OpenedWorker): Promise<Connection> {
    return connect(this.#dialer, {
      name: nameOf(worker),
      description: worker.def.summary,
      version: worker.def.version ?? version,
      namespace: worker.namespace,
      isolation: 'in-process',
      log: this.#log,
    });
  }
}

/** Registers the functions and checks that all of them were accepted. */
async function serve(worker: OpenedWorker, connection: Connection): Promise<void> {
  connection.serve(worker);
  // Frames are handled in order: a reply means that the registrations before it were handled.
  const { workers } = WorkerList.parse(await connection.call('engine::workers::list'));
  const taken = new Set(workers.find(({ id }) => id === connection.workerId)?.functions);
  const refused = worker.def.functions.map(({ id }) => id).filter((id) => !taken.has(id));
  if (refused.length === 0) return;
  throw new Error(`the engine refused functions of ${nameOf(worker)}: ${refused.join(', ')}; its log says why`);
}

async function stop({ connection, def, context }: RunningWorker): Promise<void> {
  connection.close();
  await def.close(context);
}

/** The namespace distinguishes workers of the same kind. */
function nameOf({ def, namespace }: Pick<WorkerEntry, 'def' | 'namespace'>): string {
  return namespace === undefined ? def.name : `${def.name}@${namespace}`;
}

function fingerprint(entry: WorkerEntry): string {
  return JSON.stringify([entry.config, entry.cell]);
}

/**
 * The workers that run in this process, kept equal to what the configuration asks for.
 *
 * Contexts are opened before anything is registered or stopped: a bad block changes nothing.
 */
import { connect, type Connection } from '#client';
import type { Log, AnyWorker } from '#contract';
import type { Dialer } from '#protocol';
import type { WorkerEntry } from './config-file.ts';

interface RunningWorker {
  def: AnyWorker;
  namespace?: string;
  /** The configuration it runs with, for comparison. */
  fingerprint: string;
  context: unknown;
  connection?: Connection;
}

export class WorkerSet {
  readonly #dialer: Dialer;
  readonly #log: Log;
  #running = new Map<string, RunningWorker>();

  constructor(dialer: Dialer, log: Log) {
    this.#dialer = dialer;
    this.#log = log;
  }

  get workers(): { name: string; functionCount: number }[] {
    return [...this.#running].map(([name, { def }]) => ({ name, functionCount: def.functions.length }));
  }

  /** Starts what is new, restarts what changed, stops what is gone. Resolves once all are registered. */
  async apply(entries: WorkerEntry[]): Promise<void> {
    const fresh = entries.filter((entry) => this.#running.get(nameOf(entry))?.fingerprint !== fingerprint(entry));
    const opened = await this.#openAll(fresh);
    const wanted = new Set(entries.map(nameOf));
    for (const [name, worker] of this.#running) {
      if (!wanted.has(name) || opened.has(name)) await this.#stop(worker);
    }
    for (const worker of opened.values()) await this.#register(worker);
  }

  async close(): Promise<void> {
    for (const worker of this.#running.values()) await this.#stop(worker);
  }

  async #openAll(entries: WorkerEntry[]): Promise<Map<string, RunningWorker>> {
    const opened = new Map<string, RunningWorker>();
    try {
      for (const entry of entries) {
        const context = await entry.def.open(entry.config, this.#log);
        const { def, namespace } = entry;
        opened.set(nameOf(entry), { def, namespace, fingerprint: fingerprint(entry), context });
      }
      return opened;
    } catch (error) {
      for (const { def, context } of opened.values()) await def.close(context);
      throw error;
    }
  }

  async #register(worker: RunningWorker): Promise<void> {
    const name = nameOf(worker);
    const connection = await connect(this.#dialer, {
      name,
      description: worker.def.summary,
      namespace: worker.namespace,
      isolation: 'in-process',
      log: this.#log,
    });
    connection.serve(worker);
    // Frames are taken in order: an answer means that the registrations before it were taken.
    await connection.call('engine::workers::list');
    this.#running.set(name, { ...worker, connection });
    this.#log.debug('a worker runs', { worker: name, functions: worker.def.functions.length });
  }

  async #stop(worker: RunningWorker): Promise<void> {
    this.#running.delete(nameOf(worker));
    worker.connection?.close();
    await worker.def.close(worker.context);
  }
}

/** Tells workers of the same kind apart by their namespace. */
function nameOf({ def, namespace }: Pick<WorkerEntry, 'def' | 'namespace'>): string {
  return namespace === undefined ? def.name : `${def.name}@${namespace}`;
}

function fingerprint(entry: WorkerEntry): string {
  return JSON.stringify(entry.config);
}

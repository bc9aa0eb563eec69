/** The engine's own trigger types: fire when functions or workers come and go. */
import type { Watched } from '#contract';
import type { Calls } from './calls/index.ts';
import { functionRow } from './list-rows.ts';
import type { Registry } from './registry.ts';
import type { Triggers } from './triggers.ts';

const FUNCTIONS_AVAILABLE = 'engine::functions-available';
const WORKERS_AVAILABLE = 'engine::workers-available';

export const engineTriggerTypes = [
  { id: FUNCTIONS_AVAILABLE, description: 'Fires when the set of registered functions changes.' },
  { id: WORKERS_AVAILABLE, description: 'Fires when a worker connects, reports its metadata, or disconnects.' },
];

/** A start-up registers many functions at once; listeners get one event for all of them. */
const SETTLE_MS = 20;

export type WorkerEvent = 'worker_connected' | 'worker_metadata_updated' | 'worker_disconnected';

interface EventsParts {
  triggers: Triggers;
  registry: Registry;
  watched: Watched;
  fire: Calls['fire'];
}

export class Events {
  readonly #parts: EventsParts;
  /** Called when the set of functions may differ. */
  readonly onFunctions = new Set<() => void>();
  #settling: NodeJS.Timeout | undefined;
  #lastIds = '';

  constructor(parts: EventsParts) {
    this.#parts = parts;
  }

  functionsChanged(): void {
    this.#settling ??= setTimeout(() => this.#notifyFunctions(), SETTLE_MS).unref();
  }

  workerChanged(event: WorkerEvent, workerId: string): void {
    this.#parts.watched.changed('workers');
    this.#fire(WORKERS_AVAILABLE, { event, worker_id: workerId });
  }

  close(): void {
    clearTimeout(this.#settling);
  }

  #notifyFunctions(): void {
    this.#settling = undefined;
    for (const changed of this.onFunctions) changed();
    const functions = this.#parts.registry.listAll();
    const ids = JSON.stringify(functions.map((fn) => [fn.namespace, fn.id]));
    if (ids === this.#lastIds) return;

    this.#lastIds = ids;
    this.#fire(FUNCTIONS_AVAILABLE, { event: 'functions_changed', functions: functions.map(functionRow) });
  }

  #fire(type: string, payload: object): void {
    const { triggers, fire } = this.#parts;
    for (const trigger of triggers.bindingsOf(type)) fire(trigger, payload);
  }
}

/** Answers the calls that the engine sends to this connection's functions. */
import { randomUUID } from 'node:crypto';

import {
  announce,
  answer,
  CallControl,
  type Bus,
  type FunctionDef,
  type IncomingCall,
  type Log,
  type OpenWorker,
  type AnyWorker,
} from '#contract';
import type { CallEvent, Frame, FrameOf, InvokeFrame, SendOutcome } from '#protocol';

/** A worker with its functions and its context, ready to be served. */
export interface ServableWorker extends OpenWorker {
  readonly def: AnyWorker;
}

interface Served {
  worker: ServableWorker;
  fn: FunctionDef<unknown>;
}

export class Serving {
  readonly #functions = new Map<string, Served>();
  readonly #running = new Map<string, CallControl>();
  /** Watches, which end only when this process ends them. */
  readonly #watches = new Set<CallControl>();
  readonly #bus: Bus;
  readonly #log: Log;
  #becameIdle = () => {};

  constructor(bus: Bus, log: Log) {
    this.#bus = bus;
    this.#log = log;
  }

  /** Adds a worker's functions and returns the frames that register them. */
  add(worker: ServableWorker): FrameOf<'registerfunction'>[] {
    const added = worker.def.functions.map((fn) => ({ worker, fn }));
    for (const served of added) this.#functions.set(served.fn.id, served);
    return added.map(registration);
  }

  /** Everything served, to be registered again on a new connection. */
  registrations(): FrameOf<'registerfunction'>[] {
    return [...this.#functions.values()].map(registration);
  }

  async take(frame: InvokeFrame, send: (frame: Frame) => SendOutcome | undefined): Promise<void> {
    const callId = frame.invocation_id ?? randomUUID();
    const served = this.#functions.get(frame.function_id);
    const control = new CallControl();
    this.#running.set(callId, control);
    if (served?.fn.isWatch) this.#watches.add(control);
    try {
      const reply = served
        ? await answer(served.worker, served.fn, toCall(frame, callId), {
            bus: this.#bus,
            log: this.#log,
            control,
            emit: frame.wants_events ? this.#reporter(callId, send) : undefined,
          })
        : { error: { code: 'function_not_found', message: 'Function not found' } };
      if (frame.invocation_id == null) return;
      const head = { type: 'invocationresult', invocation_id: callId, function_id: frame.function_id } as const;
      // Object.assign, because a literal with two spreads takes several times as long.
      if (send(Object.assign({}, head, reply)) !== 'not-json' || !served) return;

      this.#log.error('a handler returned what JSON cannot carry', { function: frame.function_id, call: callId });
      const { spell, failures } = served.worker.def;
      send({ ...head, error: spell(failures.internal(callId)) });
    } finally {
      this.#running.delete(callId);
      this.#watches.delete(control);
      if (this.#running.size === 0) this.#becameIdle();
    }
  }

  /** Sends the events of a call for as long as it runs. */
  #reporter(callId: string, send: (frame: Frame) => unknown): (event: CallEvent) => void {
    let seq = 0;
    return (event) => {
      if (this.#running.has(callId)) send({ type: 'invocationevent', invocation_id: callId, seq: ++seq, event });
    };
  }

  /** The caller no longer waits for this call. */
  cancel(callId: string): void {
    this.#running.get(callId)?.abort(new Error('the caller cancelled the call'));
  }

  /**
   * Resolves when no call runs any more, and at the latest after `graceMs`. Watches are ended: their callers call
   * again.
   */
  async idle(graceMs: number): Promise<void> {
    for (const watch of this.#watches) watch.abort(new Error('the worker is leaving'));
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, graceMs);
      this.#becameIdle = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }

  cancelAll(reason: string): void {
    for (const control of this.#running.values()) control.abort(new Error(reason));
  }
}

function toCall(frame: InvokeFrame, callId: string): IncomingCall {
  const { data: payload, metadata, traceparent, baggage, caller, via, wants_changes, wants_versions } = frame;
  const wantsChanges = wants_changes === true;
  const call = { callId, payload, metadata, traceparent, baggage, principal: caller ?? undefined, via, wantsChanges };
  return wants_versions === true ? { ...call, journaled: [] } : call;
}

function registration({ worker, fn }: Served): FrameOf<'registerfunction'> {
  return { type: 'registerfunction', ...announce(worker.def, fn) };
}

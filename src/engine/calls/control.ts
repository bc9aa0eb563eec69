/**
 * Actions of a person on calls from the console: cancel one, stop all of a caller, pause a caller.
 *
 * Each action passes `#acted`, which logs it with the person's connection and its target.
 */
import { callerKey, type Audit, type Log, type Principal } from '#contract';
import { fail } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Call } from './call.ts';
import type { Callers, KnownCaller } from './callers.ts';
import type { OpenCalls } from './open-calls.ts';
import type { Settle } from './settle.ts';

interface ControlParts {
  open: OpenCalls;
  settle: Settle;
  callers: Callers;
  log: Log;
  audit: Audit | undefined;
  /** Dispatches waiting calls whose caller is no longer paused. */
  resume: () => void;
  changed: () => void;
}

export class Control {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  /** Ends the call and those that were made for it; returns how many ended. */
  cancel(id: string, by: Principal): number {
    const { open } = this.#parts;
    const call = open.find(id);
    if (!call) throw fail('NOT_FOUND', { text: `call ${id} does not run any more` });
    const calls = [call, ...madeFor(call, [...open.values()])];
    this.#acted('cancel', by, { call: id, function: call.functionId, caller: callerKey(call.principal) });
    return this.#end(calls);
  }

  /** Ends every call of the caller, waiting ones too; returns how many ended. */
  stop(key: string, by: Principal): number {
    const { key: caller } = this.#find(key);
    this.#acted('stop', by, { caller });
    return this.#end([...this.#parts.open.values()].filter(({ principal }) => callerKey(principal) === caller));
  }

  /** From now on calls of the caller wait; running calls continue. */
  pause(key: string, by: Principal): void {
    const known = this.#find(key);
    if (known.isPaused) return;
    this.#parts.callers.setPaused(known, true);
    this.#acted('pause', by, { caller: key });
    this.#parts.changed();
  }

  /** Dispatches the waiting calls of the caller, also of connections that were paused under another name. */
  resume(key: string, by: Principal, sessions: Iterable<Session>): void {
    const { key: caller } = this.#find(key);
    const paused = this.#parts.callers.pausing(caller, sessions);
    if (paused.length === 0) return;
    for (const known of paused) this.#parts.callers.setPaused(known, false);
    this.#acted('resume', by, { caller });
    this.#parts.resume();
    this.#parts.changed();
  }

  #find(key: string): KnownCaller {
    const known = this.#parts.callers.find(key);
    if (!known)
      throw fail('NOT_FOUND', { text: `no caller ${key.slice(0, 128)} is known; engine::callers::list has all` });
    return known;
  }

  #end(calls: Call[]): number {
    const { open, settle } = this.#parts;
    const running = calls.filter((call) => open.find(call.id) === call);
    for (const call of running) {
      settle.abandon(call, 'CANCELLED');
      settle.refuse(call.waiting, call.functionId, fail('CANCELLED', {}));
    }
    return running.length;
  }

  #acted(action: string, by: Principal, target: Record<string, string>): void {
    this.#parts.log.info('a person acted on calls', { action, by: by.id, ...target });
    this.#parts.audit?.acted(action, by, target);
  }
}

/** The calls that were made for a call, at any depth. */
function madeFor({ id }: Call, open: Call[]): Call[] {
  const children = open.filter(({ via }) => via === id);
  return children.flatMap((child) => [child, ...madeFor(child, open)]);
}

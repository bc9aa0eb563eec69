/** The scope of a call, as its handler gets it. */
import type { CallEvent, Change } from '#protocol';
import { carrying, type Bus } from '../bus.ts';
import type { CallScope, IncomingCall } from '../call-scope.ts';
import { boundChange, boundTo } from '../change-field.ts';
import { withoutDoor, type Door } from '../doors/door.ts';
import { logWith, type Log } from '../log.ts';
import { spellCaller } from '../principal.ts';
import type { CallControl } from './call-control.ts';

/** Most changes reported for one call; later ones are dropped. */
const MAX_CHANGES = 100;
/** Most text of all changes together; beyond it a change is reported without its lines. */
const MAX_CHANGED_CHARS = 24_576;

export interface Surroundings {
  bus: Bus;
  log: Log;
  control: CallControl;
  /** Receives the events of the call; absent when its caller asked for none. */
  emit?: ((event: CallEvent) => void) | undefined;
}

/** Creates lazily the members that most calls never use. */
export class Scope implements CallScope {
  readonly call: IncomingCall;
  readonly functionId: string;
  readonly door: Door | undefined;
  readonly #around: Surroundings;
  /** The reported changes; undefined when neither caller nor console asked for them. */
  readonly changes: Change[] | undefined;
  readonly noteChange: CallScope['noteChange'];

  constructor(
    call: IncomingCall,
    functionId: string,
    { around, door }: { around: Surroundings; door: Door | undefined },
  ) {
    this.call = call;
    this.functionId = functionId;
    this.door = door;
    this.#around = around;
    this.changes = call.wantsChanges ? [] : undefined;
    this.noteChange = this.changes && changeReporter(this.changes);
  }

  get bus(): Bus {
    return nestedBus(this.#around.bus, this.call);
  }

  get log(): Log {
    return logOf(this.call, this.#around.log);
  }

  get emit(): CallScope['emit'] {
    return this.#around.emit;
  }

  get signal(): AbortSignal {
    return this.#around.control.signal;
  }

  throwIfAborted(): void {
    this.#around.control.throwIfAborted();
  }
}

/** Adds to `changes` within the limits of one call. */
function changeReporter(changes: Change[]): (change: Change) => void {
  let chars = 0;
  return (change) => {
    if (changes.length === MAX_CHANGES) return;
    chars += charsOf(change);
    const { hunks: _, ...bare } = change;
    changes.push(chars <= MAX_CHANGED_CHARS ? change : { ...bare, is_cut: true });
  };
}

function charsOf({ hunks = [] }: Change): number {
  return hunks.reduce((sum, { lines }) => sum + lines.reduce((chars, line) => chars + line.length, 0), 0);
}

function nestedBus(bus: Bus, { callId, principal, metadata, traceparent, baggage }: IncomingCall): Bus {
  const bound = boundChange(metadata);
  const carried = carrying(bus, {
    caller: principal,
    via: callId,
    metadata: withoutDoor(metadata),
    traceparent: traceparent ?? undefined,
    baggage: baggage ?? undefined,
  });
  if (bound === undefined) return carried;
  return {
    ...carried,
    // A nested call that has metadata of its own is still bound.
    call: (functionId, payload, options) =>
      carried.call(functionId, payload, {
        ...options,
        metadata: Object.assign({}, options?.metadata ?? withoutDoor(metadata), boundTo(bound)),
      }),
  };
}

export function logOf({ callId, principal }: IncomingCall, log: Log): Log {
  return logWith(log, { call: callId, principal: principal && spellCaller(principal) });
}

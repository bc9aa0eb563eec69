/**
 * Answers one call: parses once, runs with a deadline, catches everything.
 *
 * This is the only catch-all. A `Failure` is an answer; a known host error is translated to one;
 * an error from the call's own abort is expected; anything else is a bug, logged with its stack. Both are answered
 * with the call id and nothing from inside.
 */
import type { CallEvent, Change, ErrorBody } from '#protocol';
import { carrying, type Bus } from './bus.ts';
import type { CallScope, IncomingCall } from './call-scope.ts';
import { boundChange, boundTo, takesChange } from './change-field.ts';
import { Deadlines } from './deadlines.ts';
import { doorOf, withoutDoor, type Door } from './doors/door.ts';
import { Failure } from './define-errors.ts';
import { DEFAULT_DEADLINE_MS, type FunctionDef } from './define-function.ts';
import type { AnyWorker } from './define-worker.ts';
import { describeIssues } from './issue-text.ts';
import { requestSchema, type JsonSchema } from './json-schema.ts';
import { logWith, type Log } from './log.ts';
import { hasTooManyValues, MAX_PAYLOAD_VALUES } from './payload-size.ts';
import { spellCaller } from './principal.ts';
import { describeUnknownFields } from './doors/unknown-fields.ts';
import { wholeFix } from './doors/whole-fix.ts';

/** `text` is the result as a door prints it. */
export type Reply = ({ result: unknown; text?: string } | { error: ErrorBody }) & { changes?: Change[] };

/** Most changes reported for one call; later ones are dropped. */
const MAX_CHANGES = 100;
/** For all changes together; beyond it a change is reported without its lines. */
const MAX_CHANGED_CHARS = 24_576;

const ONLY_EVENTS =
  'it only reports events; take them by stream() of the client, or over HTTP with Accept: text/event-stream';

/** A worker with its context open, ready to answer calls. */
export interface OpenWorker<Context = unknown> {
  readonly def: Pick<AnyWorker, 'name' | 'failures' | 'translate' | 'spell' | 'failedResult' | 'changes'>;
  readonly context: Context;
}

/**
 * Lets the owner of the call abort it while it runs.
 *
 * @example
 * ```js
 * import { CallControl } from 'workcell/contract';
 *
 * const control = new CallControl();
 * const { signal } = control; // what a handler gets as scope.signal
 * control.abort(new Error('the caller left'));
 * console.log(signal.aborted, signal.reason.message); // true the caller left
 * ```
 */
export class CallControl {
  #controller: AbortController | undefined;
  #abortedWith: Error | undefined;

  /** Created on first use: most calls never read their signal. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortedWith) this.#controller.abort(this.#abortedWith);
    }
    return this.#controller.signal;
  }

  throwIfAborted(): void {
    if (this.#abortedWith) throw this.#abortedWith;
  }

  /** Whether an error was thrown because of the abort: its reason, or a platform error around it. */
  isBehind(thrown: unknown): boolean {
    const reason = this.#abortedWith;
    return reason !== undefined && (thrown === reason || (thrown instanceof Error && thrown.cause === reason));
  }

  abort(reason: Error): void {
    this.#abortedWith ??= reason;
    this.#controller?.abort(reason);
  }
}

interface Surroundings {
  bus: Bus;
  log: Log;
  control: CallControl;
  /** Receives the events of the call; absent when its caller asked for none. */
  emit?: ((event: CallEvent) => void) | undefined;
}

/**
 * Answers one call as a served worker does: for a test of a handler without an engine, or for another transport.
 *
 * @example
 * ```js
 * import { answer, CallControl, defineErrors, defineWorker, silentLog } from 'workcell/contract';
 * import { z } from 'zod';
 *
 * const errors = defineErrors({
 *   failed: { meaning: 'The call failed.', http: 500, message: ({ why }) => why },
 * });
 * const worker = defineWorker({
 *   name: 'notes',
 *   summary: 'Stores notes.',
 *   config: z.strictObject({}),
 *   errors,
 *   failures: {
 *     badInput: (problem) => errors.fail('failed', { why: problem }),
 *     internal: (callId) => errors.fail('failed', { why: `a bug; the log has call ${callId}` }),
 *     deadline: (ms) => errors.fail('failed', { why: `not done after ${ms} ms` }),
 *   },
 *   open: () => [],
 * });
 * const add = worker.defineFunction({
 *   id: 'notes::add',
 *   summary: 'Adds a note.',
 *   effect: 'write',
 *   permissions: [],
 *   request: z.object({ text: z.string() }),
 *   response: z.object({ count: z.int() }),
 *   errors: ['failed'],
 *   examples: [{ text: 'off by one' }],
 *   handle: ({ text }, notes) => ({ count: notes.push(text) }),
 * });
 *
 * const open = { def: worker, context: [] };
 * const around = { log: silentLog, control: new CallControl() }; // and `bus`, for handlers that make calls
 * const { result } = await answer(open, add, { callId: '1', payload: { text: 'unused' } }, around);
 * console.log(result.count); // 1
 * const { error } = await answer(open, add, { callId: '2', payload: { text: 7 } }, around);
 * console.log(JSON.parse(error.message).message); // `text` must be a string (got a number)
 * ```
 */
export async function answer<Context>(
  worker: OpenWorker<Context>,
  fn: FunctionDef<Context>,
  call: IncomingCall,
  surroundings: Surroundings,
): Promise<Reply> {
  const { def, context } = worker;
  const { bus, control } = surroundings;
  const door = doorOf(call.metadata);
  const scope = new Scope(call, fn.id, { around: surroundings, door });

  try {
    if (hasTooManyValues(call.payload)) {
      throw def.failures.badInput(`the payload holds more than ${MAX_PAYLOAD_VALUES} values`, fn.id);
    }
    if (fn.isWatch && !scope.emit) throw def.failures.badInput(ONLY_EVENTS, fn.id);
    const unknown = door && describeUnknownFields(schemaOf(fn), call.payload);
    if (unknown) throw def.failures.badInput(unknown, fn.id);

    const given = withBoundChange(call, fn, def);
    const request = fn.request.safeParse(withDefaults(given ?? {}, fn, door));
    if (!request.success) throw def.failures.badInput(describeIssues(request.error, call.payload), fn.id);

    const change = def.changes && changeOf(def.changes, request.data, call.metadata);
    using inside = change == null ? undefined : await def.changes!.within(context, change);
    const work = fn.handle(request.data, inside ? (inside.context as Context) : context, scope);
    const result: unknown = work instanceof Promise ? await beforeDeadline(work, fn, def, control) : work;
    const text = textOf(fn, { result, context, door });
    return withChanges(text === undefined ? { result } : { result, text }, scope.changes);
  } catch (thrown) {
    const known = { call, functionId: fn.id, door, log: surroundings.log, control };
    const failure = withWholeFix(toFailure(thrown, worker, known), call.payload);
    const reply = def.failedResult ? { result: def.failedResult(failure) } : { error: def.spell(failure, bus) };
    return withChanges(reply, scope.changes);
  }
}

/** HTTP and the bus pass the result on to programs, which read no text. */
function textOf<Context>(
  fn: FunctionDef<Context>,
  { result, context, door }: { result: unknown; context: Context; door: Door | undefined },
): string | undefined {
  return fn.text && (door === 'model' || door === 'cli') ? fn.text(result, context) : undefined;
}

function charsOf({ hunks = [] }: Change): number {
  return hunks.reduce((sum, { lines }) => sum + lines.reduce((chars, line) => chars + line.length, 0), 0);
}

function withChanges(reply: Reply, changes: Change[] | undefined): Reply {
  return changes && changes.length > 0 ? { ...reply, changes } : reply;
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

/** Creates lazily what most calls never use. */
class Scope implements CallScope {
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

function logOf({ callId, principal }: IncomingCall, log: Log): Log {
  return logWith(log, { call: callId, principal: principal && spellCaller(principal) });
}

const schemas = new WeakMap<FunctionDef<never>, JsonSchema>();

/** The published schema of the request, made when a door first needs it. */
function schemaOf(fn: FunctionDef<never>): JsonSchema {
  const schema = schemas.get(fn) ?? requestSchema(fn.request, fn.id);
  schemas.set(fn, schema);
  return schema;
}

function withDefaults(payload: unknown, { modelDefaults }: FunctionDef<never>, door: Door | undefined): unknown {
  if (door !== 'model' || !modelDefaults || typeof payload !== 'object') return payload;
  return { ...modelDefaults, ...payload };
}

function changeOf(
  { named }: Pick<NonNullable<AnyWorker['changes']>, 'named'>,
  request: unknown,
  metadata: unknown,
): string | undefined {
  const asked = named === 'field' ? (request as { change?: string | null }).change : undefined;
  return asked ?? (metadata === undefined ? undefined : boundChange(metadata));
}

/** A session that is bound to a change needs not name it, and cannot name another. */
function withBoundChange(
  { payload, metadata }: IncomingCall,
  fn: FunctionDef<never>,
  { failures, changes }: Pick<AnyWorker, 'failures' | 'changes'>,
): unknown {
  const bound = metadata === undefined ? undefined : boundChange(metadata);
  if (bound === undefined || changes?.named === 'bound' || !takesChange(fn.request)) return payload;
  const asked = (payload as { change?: unknown } | null | undefined)?.change;
  if (asked == null)
    return typeof payload === 'object' ? { ...payload, change: bound } : (payload ?? { change: bound });
  if (asked === bound) return payload;
  throw failures.badInput(`this session is bound to the change ${bound}; leave \`change\` out`, fn.id);
}

function withWholeFix(failure: Failure, payload: unknown): Failure {
  const { code, message, extra, cause } = failure;
  if (typeof extra.fix !== 'object' || extra.fix === null) return failure;
  return new Failure({ code, message, extra: { ...extra, ...wholeFix(extra.fix, payload) } }, cause);
}

/** One deadline queue per function: all its calls have the same timeout. */
const deadlines = new WeakMap<FunctionDef<never>, Deadlines>();

function deadlinesOf(fn: FunctionDef<never>, ms: number): Deadlines {
  const known = deadlines.get(fn);
  if (known) return known;

  const made = new Deadlines(ms);
  deadlines.set(fn, made);
  return made;
}

function beforeDeadline<T>(
  work: Promise<T>,
  fn: FunctionDef<never>,
  def: Pick<AnyWorker, 'failures'>,
  control: CallControl,
): Promise<T> {
  const deadlineMs = fn.deadlineMs ?? DEFAULT_DEADLINE_MS;
  return new Promise((resolve, reject) => {
    const running = deadlinesOf(fn, deadlineMs).start(() => {
      const failure = def.failures.deadline(deadlineMs);
      control.abort(failure);
      reject(failure);
    });
    const settle =
      <V>(how: (value: V) => void) =>
      (value: V) => {
        running.done();
        how(value);
      };
    work.then(settle(resolve), settle(reject));
  });
}

function toFailure(
  thrown: unknown,
  { def, context }: OpenWorker,
  about: { call: IncomingCall; functionId: string; door: Door | undefined; log: Log; control: CallControl },
): Failure {
  if (thrown instanceof Failure) return thrown;

  const { call, functionId, door, control } = about;
  const known = def.translate(thrown, { context, door });
  if (known) return known;

  const log = logOf(call, about.log);
  if (control.isBehind(thrown)) {
    log.debug('a call was given up', { function: functionId, reason: String(thrown) });
  } else {
    const stack = thrown instanceof Error ? thrown.stack : String(thrown);
    log.error('unexpected error in a handler', { function: functionId, stack });
  }
  return def.failures.internal(call.callId);
}

/**
 * Answers one call: parses once, runs with a deadline, catches everything.
 *
 * This is the only catch-all. A `Failure` is an answer; a known host error is translated to one;
 * an error from the call's own abort is expected; anything else is a bug, logged with its stack. Both are answered
 * with the call id and nothing from inside.
 */
import type { Change, ErrorBody } from '#protocol';
import { changeOf, withBoundChange } from './answering/bound-change.ts';
import { beforeDeadline } from './answering/before-deadline.ts';
import { toFailure, type OpenWorker } from './answering/failure.ts';
import { Scope, type Surroundings } from './answering/scope.ts';
import type { IncomingCall } from './call-scope.ts';
import { doorOf, type Door } from './doors/door.ts';
import type { FunctionDef } from './define-function.ts';
import { describeIssues } from './schema/issue-text.ts';
import { requestSchema, type JsonSchema } from './schema/json-schema.ts';
import { hasTooManyValues, MAX_PAYLOAD_VALUES } from './schema/payload-size.ts';
import { describeUnknownFields } from './doors/unknown-fields.ts';

export type { OpenWorker };

/** `text` is the result as MCP clients and the command line print it. */
export type Reply = ({ result: unknown; text?: string } | { error: ErrorBody }) & {
  changes?: Change[];
  /** Versions of changed files, from the journal. */
  versions?: Change[];
};

const ONLY_EVENTS =
  'it only reports events; take them by stream() of the client, or over HTTP with Accept: text/event-stream';

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
    return withReports(text === undefined ? { result } : { result, text }, scope);
  } catch (thrown) {
    const known = { call, functionId: fn.id, door, log: surroundings.log, control };
    const failure = toFailure(thrown, worker, known);
    const reply = def.failedResult ? { result: def.failedResult(failure) } : { error: def.spell(failure, bus) };
    return withReports(reply, scope);
  }
}

/** HTTP and the bus pass the result itself to programs, which read no text. */
function textOf<Context>(
  fn: FunctionDef<Context>,
  { result, context, door }: { result: unknown; context: Context; door: Door | undefined },
): string | undefined {
  return fn.text && (door === 'model' || door === 'cli') ? fn.text(result, context) : undefined;
}

function withReports(reply: Reply, { changes, call: { journaled } }: Scope): Reply {
  const reported = changes && changes.length > 0 ? { ...reply, changes } : reply;
  return journaled && journaled.length > 0 ? { ...reported, versions: journaled } : reported;
}

const schemas = new WeakMap<FunctionDef<never>, JsonSchema>();

/** The published schema of the request, computed on first use. */
function schemaOf(fn: FunctionDef<never>): JsonSchema {
  const schema = schemas.get(fn) ?? requestSchema(fn.request, fn.id);
  schemas.set(fn, schema);
  return schema;
}

function withDefaults(payload: unknown, { modelDefaults }: FunctionDef<never>, door: Door | undefined): unknown {
  if (door !== 'model' || !modelDefaults || typeof payload !== 'object') return payload;
  return { ...modelDefaults, ...payload };
}

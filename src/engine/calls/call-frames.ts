/** Calls as executors get them and results as callers do, where they cannot be sent on as they came. */
import type { Principal } from '#contract';
import {
  FEATURE_EVENTS,
  toErrorBody,
  type Caller,
  type EncodedFrame,
  type InvokeFrame,
  type ResultFrame,
} from '#protocol';
import { DEFAULT_NAMESPACE } from '../namespace.ts';
import type { Call, Enqueued, Waiting } from './call.ts';
import type { Request } from './executor.ts';

/** Workers of iii authorise by this field of their payload, where the original engine puts the id of the connection. */
const CALLER_FIELD = '_caller_worker_id';

/** The function that a worker with queues offers. */
export const ENQUEUE_ID = 'engine::queue::enqueue';

/** The call itself unless its caller filled in who it is: then with the id of its connection. */
export function withTrueCaller(frame: InvokeFrame, callerId: string): InvokeFrame {
  const { data } = frame;
  if (typeof data !== 'object' || data === null || Array.isArray(data) || !Object.hasOwn(data, CALLER_FIELD)) {
    return frame;
  }
  return { ...frame, data: { ...data, [CALLER_FIELD]: callerId } };
}

/** What others may know of a principal. */
function toCaller({ id, kind, label, client }: Principal): Caller {
  return { id, kind, label, client };
}

/** How much of a call's principal its executor is told: all of it in this process, where it comes back with nested calls. */
type Told = 'nothing' | 'caller' | 'principal';

/** The call as its executor gets it: the very frame and bytes that came where nothing has to change. */
export function forExecutor(call: Call, { frame, encoded }: Request, told: Told): Omit<Request, 'session'> {
  const addressed = withoutClaims(isUnchanged(call, frame) ? frame : readdressed(frame, call.id));
  const bytes = addressed === frame ? encoded : undefined;
  const { principal, via } = call;
  const wish = wishOf(call);
  // Its sender is done with it, and a copy would cost a tenth of a call in this process.
  if (told === 'principal') return { frame: Object.assign(addressed, { caller: principal, via }, wish) };
  if (told === 'nothing' && !wish) return { frame: addressed, encoded: bytes };

  const fields = { ...(told === 'caller' && { caller: toCaller(principal), via }), ...wish };
  return { frame: { ...addressed, ...fields }, encoded: bytes && extended(bytes, fields) };
}

/** What the executor is to report beside the result; undefined for most calls. */
function wishOf({ wantsChanges, waiting, executor }: Call): Partial<InvokeFrame> | undefined {
  const wantsEvents = waiting?.wantsEvents === true && executor.features.has(FEATURE_EVENTS);
  if (!wantsChanges && !wantsEvents) return undefined;
  return { ...(wantsChanges && { wants_changes: true }), ...(wantsEvents && { wants_events: true }) };
}

function isUnchanged({ id, waiting }: Call, { data, action, namespace }: InvokeFrame): boolean {
  return id === waiting?.invocationId && data !== undefined && !action && !namespace;
}

/** Without what only the engine says of a call, and what is said to it alone. */
function withoutClaims(frame: InvokeFrame): InvokeFrame {
  const { caller, via, wants_changes, wants_events, on_behalf_of, ...rest } = frame;
  // One that does not fit its schema is null here, and still stands in the bytes.
  const isPlain = caller === undefined && via === undefined && on_behalf_of === undefined;
  return isPlain && wants_changes === undefined && wants_events === undefined ? frame : rest;
}

/** Without what is for the engine alone. */
function readdressed(frame: InvokeFrame, id: string): InvokeFrame {
  const { action: _, namespace: __, ...rest } = frame;
  return { ...rest, invocation_id: id, data: frame.data ?? null };
}

/** A call with the action `enqueue`, as the worker with queues gets it. */
export function enqueueCall(frame: InvokeFrame, queue: string, receiptId: string): InvokeFrame {
  const { invocation_id, function_id, data = null, traceparent = null, baggage = null, namespace } = frame;
  const message = { queue, function_id, data, messageReceiptId: receiptId, traceparent, baggage };
  return {
    type: 'invokefunction',
    invocation_id,
    function_id: ENQUEUE_ID,
    data: namespace == null || namespace === DEFAULT_NAMESPACE ? message : { ...message, namespace },
    traceparent,
    baggage,
  };
}

/** What the caller of an enqueued call gets for the answer of the worker with queues. */
export function receiptOf(
  { functionId, receiptId }: Enqueued,
  { invocationId }: Waiting,
  answer: ResultFrame,
): ResultFrame {
  const frame = { type: 'invocationresult', invocation_id: invocationId, function_id: functionId } as const;
  if (!answer.error) return { ...frame, result: { messageReceiptId: receiptId } };
  const { code, message } = toErrorBody(answer.error);
  return { ...frame, error: { code: 'enqueue_error', message: `${code}: ${message}` } };
}

/** A result as its caller gets it: without a `result` that is null, as the original's, and with the trace of the call. */
export function answered(
  frame: ResultFrame,
  waiting: Waiting,
  encoded?: EncodedFrame,
): { frame: ResultFrame; encoded?: EncodedFrame } {
  const trace = missingTrace(frame, waiting);
  if (frame.result !== null) {
    if (!trace) return { frame, encoded };
    return { frame: { ...frame, ...trace }, encoded: encoded && withTrace(encoded, frame, trace) };
  }
  const { result: _, ...rest } = frame;
  return { frame: { ...rest, ...trace } };
}

type Trace = Pick<ResultFrame, 'traceparent' | 'baggage'>;

function missingTrace(frame: ResultFrame, { traceparent, baggage }: Waiting): Trace | undefined {
  const trace: Trace = {};
  if (traceparent != null && frame.traceparent == null) trace.traceparent = traceparent;
  if (baggage != null && frame.baggage == null) trace.baggage = baggage;
  return Object.keys(trace).length === 0 ? undefined : trace;
}

function withTrace(encoded: EncodedFrame, frame: ResultFrame, trace: Trace): EncodedFrame | undefined {
  const isThere = Object.keys(trace).some((name) => frame[name as keyof Trace] !== undefined);
  return isThere ? undefined : extended(encoded, trace);
}

/** The bytes of a frame with more fields at its end, none of which it has already, not even as null. */
function extended(encoded: EncodedFrame, fields: object): EncodedFrame {
  const end = encoded.lastIndexOf('}'.charCodeAt(0));
  return Buffer.concat([encoded.subarray(0, end), Buffer.from(`,${JSON.stringify(fields).slice(1)}`)]);
}

/** Calls as executors get them and results as callers do, where they cannot be sent on as they came. */
import { toErrorBody, type EncodedFrame, type InvokeFrame, type ResultFrame } from '#protocol';
import type { Caller, Enqueued } from './pending-calls.ts';
import { DEFAULT_NAMESPACE } from '../session.ts';

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

/** Without what is for the engine alone. */
export function readdressed(frame: InvokeFrame, id: string): InvokeFrame {
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
  { invocationId }: Caller,
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
  caller: Caller,
  encoded?: EncodedFrame,
): { frame: ResultFrame; encoded?: EncodedFrame } {
  const trace = missingTrace(frame, caller);
  if (frame.result !== null) {
    if (!trace) return { frame, encoded };
    return { frame: { ...frame, ...trace }, encoded: encoded && extended(encoded, frame, trace) };
  }
  const { result: _, ...rest } = frame;
  return { frame: { ...rest, ...trace } };
}

type Trace = Pick<ResultFrame, 'traceparent' | 'baggage'>;

function missingTrace(frame: ResultFrame, { traceparent, baggage }: Caller): Trace | undefined {
  const trace: Trace = {};
  if (traceparent != null && frame.traceparent == null) trace.traceparent = traceparent;
  if (baggage != null && frame.baggage == null) trace.baggage = baggage;
  return Object.keys(trace).length === 0 ? undefined : trace;
}

/** The bytes of a frame with more fields at its end, unless it has one of them already, as null. */
function extended(encoded: EncodedFrame, frame: ResultFrame, fields: Trace): EncodedFrame | undefined {
  if (Object.keys(fields).some((name) => frame[name as keyof Trace] !== undefined)) return undefined;
  const end = encoded.lastIndexOf('}'.charCodeAt(0));
  return Buffer.concat([encoded.subarray(0, end), Buffer.from(`,${JSON.stringify(fields).slice(1)}`)]);
}

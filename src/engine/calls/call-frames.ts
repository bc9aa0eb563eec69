/** Rewrites calls for executors and results for callers, where frames cannot be forwarded unchanged. */
import type { Principal } from '#contract';
import {
  FEATURE_CHANGES,
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
import { toOnBehalf } from './on-behalf.ts';

/** Workers of iii authorise by this payload field, in which the original engine puts the connection id. */
const CALLER_FIELD = '_caller_worker_id';

const BRACE = '}'.charCodeAt(0);

/** The function of a queue worker. */
export const ENQUEUE_ID = 'engine::queue::enqueue';

/** The call unchanged, unless its caller sent the field itself: then it holds the id of its connection. */
export function withTrueCaller(frame: InvokeFrame, callerId: string): InvokeFrame {
  const { data } = frame;
  if (typeof data !== 'object' || data === null || Array.isArray(data) || !Object.hasOwn(data, CALLER_FIELD)) {
    return frame;
  }
  return { ...frame, data: { ...data, [CALLER_FIELD]: callerId } };
}

/** The public part of a principal. */
function toCaller({ id, kind, label, client, approves }: Principal): Caller {
  return { id, kind, label, client, ...(approves && { approves }) };
}

/** The part of a principal that the executor gets: all of it in this process, where nested calls carry it back. */
type PrincipalPart = 'nothing' | 'caller' | 'principal';

/** The call as its executor gets it: the original frame and bytes if nothing has to change. */
export function forExecutor(call: Call, { frame, encoded }: Request, part: PrincipalPart): Omit<Request, 'session'> {
  const addressed = withoutClaims(isUnchanged(call, frame) ? frame : readdressed(frame, call.id));
  const bytes = addressed === frame ? encoded : undefined;
  const { principal, via } = call;
  const wish = wishOf(call);
  // Mutates the frame: its sender no longer uses it, and a copy would cost a tenth of a call.
  if (part === 'principal') return { frame: Object.assign(addressed, { caller: principal, via }, wish) };
  if (part === 'nothing' && !wish) return { frame: addressed, encoded: bytes };

  const added = via === undefined && !wish ? callerAddition(principal) : additionOf(call, part, wish);
  return { frame: Object.assign(addressed, added.fields), encoded: bytes && extended(bytes, added.end) };
}

/** The call as another node gets it, with the whole principal: that node authorizes it. */
export function forNode(call: Call, { frame, encoded }: Request): [InvokeFrame, EncodedFrame | undefined] {
  const plain = withoutClaims(frame);
  const isSame = plain === frame && call.id === call.waiting?.invocationId && frame.data !== undefined && !frame.action;
  const { principal, via } = call;
  const wish = wishOf(call);
  const added =
    via === undefined && !wish ? voucherOf(principal) : new Addition({ ...vouchFor(principal), via, ...wish });
  // Mutates the frame, as `forExecutor` does.
  if (isSame) return [Object.assign(plain, added.fields), encoded && extended(encoded, added.end)];
  const { action: _, ...rest } = plain;
  return [{ ...rest, invocation_id: call.id, data: frame.data ?? null, ...added.fields }, undefined];
}

function vouchFor(principal: Principal): Pick<InvokeFrame, 'caller' | 'on_behalf_of'> {
  return { caller: toCaller(principal), on_behalf_of: toOnBehalf(principal.grants) };
}

/** Kept as `callerAdditions` are. */
const vouchers = new WeakMap<Principal, Addition>();

function voucherOf(principal: Principal): Addition {
  const known = vouchers.get(principal);
  if (known) return known;
  const made = new Addition(vouchFor(principal));
  vouchers.set(principal, made);
  return made;
}

/** Reports that the executor should send beside the result; undefined for most calls. */
function wishOf({ wantsChanges, waiting, executor, audited }: Call): Partial<InvokeFrame> | undefined {
  const wantsEvents = waiting?.wantsEvents === true && executor.features.has(FEATURE_EVENTS);
  const wantsVersions = audited !== undefined && executor.features.has(FEATURE_CHANGES);
  if (!wantsChanges && !wantsEvents && !wantsVersions) return undefined;
  return {
    ...(wantsChanges && { wants_changes: true }),
    ...(wantsEvents && { wants_events: true }),
    ...(wantsVersions && { wants_versions: true }),
  };
}

function additionOf({ principal, via }: Call, part: PrincipalPart, wish?: Partial<InvokeFrame>): Addition {
  return new Addition({ ...(part === 'caller' && { caller: toCaller(principal), via }), ...wish });
}

/** Kept as long as the principal: nearly every call of a connection adds only this. */
const callerAdditions = new WeakMap<Principal, Addition>();

function callerAddition(principal: Principal): Addition {
  const known = callerAdditions.get(principal);
  if (known) return known;
  const made = new Addition({ caller: toCaller(principal) });
  callerAdditions.set(principal, made);
  return made;
}

function isUnchanged({ id, waiting }: Call, { data, action, namespace }: InvokeFrame): boolean {
  return id === waiting?.invocationId && data !== undefined && !action && !namespace;
}

/** Removes the fields that only the engine may set, or only it may read. */
function withoutClaims(frame: InvokeFrame): InvokeFrame {
  // A field that does not fit its schema is null here, and is still in the bytes.
  const isPlain = frame.caller === undefined && frame.via === undefined && frame.on_behalf_of === undefined;
  const isWishless = frame.wants_changes === undefined && frame.wants_events === undefined;
  if (isPlain && isWishless && frame.takes_questions === undefined && frame.wants_versions === undefined) return frame;
  const { caller: _, via: __, wants_changes: ___, wants_events: ____, on_behalf_of: _____, ...rest } = frame;
  const { takes_questions: ______, wants_versions: _______, ...plain } = rest;
  return plain;
}

/** Removes the fields that only the engine reads. */
function readdressed(frame: InvokeFrame, id: string): InvokeFrame {
  const { action: _, namespace: __, ...rest } = frame;
  return { ...rest, invocation_id: id, data: frame.data ?? null };
}

/** A call with the action `enqueue`, as sent to the queue worker. */
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

/** The caller's result of an enqueued call, from the answer of the queue worker. */
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

/** The result as sent to the caller: without a null `result`, like the original engine, and with the call's trace. */
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
  if (traceparent == null && baggage == null) return undefined;
  const trace: Trace = {};
  if (traceparent != null && frame.traceparent == null) trace.traceparent = traceparent;
  if (baggage != null && frame.baggage == null) trace.baggage = baggage;
  return Object.keys(trace).length === 0 ? undefined : trace;
}

function withTrace(encoded: EncodedFrame, frame: ResultFrame, trace: Trace): EncodedFrame | undefined {
  const isThere = Object.keys(trace).some((name) => frame[name as keyof Trace] !== undefined);
  return isThere ? undefined : extended(encoded, new Addition(trace).end);
}

/** Fields that are added to a frame, also to its bytes; the frame must not have any of them, not even as null. */
class Addition {
  readonly fields: object;
  #end: Buffer | undefined;

  constructor(fields: object) {
    this.fields = fields;
  }

  /** Text that replaces the last brace of the frame. */
  get end(): Buffer {
    return (this.#end ??= Buffer.from(`,${JSON.stringify(this.fields).slice(1)}`));
  }
}

function extended(encoded: EncodedFrame, end: Buffer): EncodedFrame {
  let kept = encoded.length - 1;
  while (encoded[kept] !== BRACE) kept -= 1;
  const bytes = Buffer.allocUnsafe(kept + end.length);
  bytes.set(encoded.subarray(0, kept));
  bytes.set(end, kept);
  return bytes;
}

/**
 * Every message of the iii bus as data: one JSON object per frame, distinguished by `type`.
 *
 * Unknown fields are dropped and `null` counts as absent wherever a field is optional: peers of different versions send
 * stray keys and disagree on which of the two they send.
 */
import { z } from 'zod';

import { asPlainFrame, MAX_ID_LENGTH } from './plain-frame.ts';

const json = z.unknown();
/** An engine serializes stored values again, also for other peers; deeper nesting would overflow the stack there. */
const MAX_KEPT_NESTING = 256;
export const KeptJsonSchema = json.refine((value) => !nestsDeeperThan(value, MAX_KEPT_NESTING), {
  error: `nested deeper than ${MAX_KEPT_NESTING}`,
});
const kept = KeptJsonSchema.optional();
const text = z.string().nullish();
const id = z.string().min(1).max(MAX_ID_LENGTH);

const ErrorBodySchema = z.object({
  code: z.string(),
  message: z.string(),
  stacktrace: z.string().nullish(),
});

const trace = { traceparent: text, baggage: text };

/** The caller of a call, as the engine knows it. */
const CallerSchema = z.object({
  id: z.string(),
  kind: z.enum(['operator', 'local', 'token', 'app', 'page', 'worker']),
  /** Name for people; not unique. */
  label: z.string(),
  /** Its client program, as that program names itself. */
  client: z.object({ name: z.string(), version: z.string() }).optional(),
  /** Whether it sent the operator's key: it may approve calls that wait for a person. */
  approves: z.boolean().optional(),
});
export type Caller = Readonly<z.infer<typeof CallerSchema>>;

const ActionSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('void') }),
  z.object({ type: z.literal('enqueue'), queue: z.string() }),
]);

const workerRegistered = z.object({
  type: z.literal('workerregistered'),
  worker_id: id,
  reattach_token: text,
  /**
   * Additive: optional features of this engine, so that a client need not guess. Items are not validated: zod's report
   * of each wrong one would take hundreds of times its memory.
   */
  features: z.array(z.unknown()).nullish(),
});

const registerFunction = z.object({
  type: z.literal('registerfunction'),
  id,
  description: text,
  request_format: kept,
  response_format: kept,
  metadata: kept,
  invocation: json.optional(),
});

const unregisterFunction = z.object({ type: z.literal('unregisterfunction'), id });

const invokeFunction = z.object({
  type: z.literal('invokefunction'),
  invocation_id: id.nullish(),
  function_id: id,
  data: json.optional(),
  action: ActionSchema.nullish(),
  metadata: json.optional(),
  namespace: text,
  /**
   * Additive, with the feature `caller`: from an engine, the caller of the call; from a peer in its process, the
   * principal that it calls for. From any other peer it is dropped.
   */
  caller: CallerSchema.nullish().catch(null),
  /** Additive, with the feature `caller`: the parent call. */
  via: text.catch(null),
  /** Additive, with the feature `on_behalf`: from a peer, see `OnBehalfSchema`; the engine does not forward it. */
  on_behalf_of: json.optional(),
  /** Additive: the caller accepts `changes` beside the result; forwarded to a worker with the feature `changes`. */
  wants_changes: z.boolean().nullish().catch(null),
  /** Additive, from an engine with an audit to a worker with the feature `changes`: it wants `versions` beside the result. */
  wants_versions: z.boolean().nullish().catch(null),
  /** Additive: the caller accepts `invocationevent` frames; forwarded to a worker with the feature `events`. */
  wants_events: z.boolean().nullish().catch(null),
  /** Additive: the caller can ask its own person whether to approve the call, see `QuestionSchema`; not forwarded. */
  takes_questions: z.boolean().nullish().catch(null),
  ...trace,
});

const invocationResult = z.object({
  type: z.literal('invocationresult'),
  invocation_id: id,
  function_id: text,
  result: json.optional(),
  error: json.optional(),
  /** Additive, with the feature `changes`: the file changes of the call, see `ChangeSchema`. */
  changes: json.optional(),
  /**
   * Additive, for the engine: the versions of changed files, as changes without lines; the engine does not forward
   * them.
   */
  versions: json.optional(),
  /** Additive: the result as text, for a call whose metadata names the door `model` or `cli`. */
  text: z.string().optional().catch(undefined),
  ...trace,
});

/** Additive: an event of a call before its result. Needs the feature `events` and a caller that sent `wants_events`. */
const invocationEvent = z.object({
  type: z.literal('invocationevent'),
  invocation_id: id,
  /** The first event of a call is 1. A caller that reads too slowly misses events, and detects the gap. */
  seq: z.int().min(0),
  event: z.looseObject({ type: z.string(), message: z.string().optional() }),
});

const registerTriggerType = z.object({
  type: z.literal('registertriggertype'),
  id,
  description: text,
  trigger_request_format: kept,
  call_request_format: kept,
  namespace: text,
});

const unregisterTriggerType = z.object({ type: z.literal('unregistertriggertype'), id });

const registerTrigger = z.object({
  type: z.literal('registertrigger'),
  id,
  trigger_type: id,
  function_id: id,
  config: kept,
  metadata: kept,
  namespace: text,
  trigger_namespace: text,
});

const unregisterTrigger = z.object({
  type: z.literal('unregistertrigger'),
  id,
  trigger_type: text,
});

const triggerRegistrationResult = z.object({
  type: z.literal('triggerregistrationresult'),
  id,
  trigger_type: id,
  function_id: z.string(),
  error: ErrorBodySchema.nullish(),
});

const registrationRejected = z.object({
  type: z.literal('registrationrejected'),
  code: z.string(),
  namespace: z.string(),
  owner_worker_id: z.string(),
  function_id: text,
  worker_name: text,
});

/**
 * Additive: sent only to peers that announced the feature `cancel`. With `wait` the caller still wants the answer;
 * without it the call has ended for the caller.
 */
const cancelInvocation = z.object({
  type: z.literal('cancelinvocation'),
  invocation_id: id,
  wait: z.boolean().optional(),
});

const registerService = z.object({ type: z.literal('registerservice'), id });
const reattach = z.object({ type: z.literal('reattach'), previous_worker_id: id, reattach_token: text });
const ping = z.object({ type: z.literal('ping') });
const pong = z.object({ type: z.literal('pong') });

export const FrameSchema = z.discriminatedUnion('type', [
  invokeFunction,
  invocationResult,
  invocationEvent,
  registerFunction,
  unregisterFunction,
  registerTriggerType,
  unregisterTriggerType,
  registerTrigger,
  unregisterTrigger,
  triggerRegistrationResult,
  workerRegistered,
  registrationRejected,
  cancelInvocation,
  registerService,
  reattach,
  ping,
  pong,
]);

export type Frame = z.infer<typeof FrameSchema>;
export type FrameOf<T extends Frame['type']> = Extract<Frame, { type: T }>;
export type InvokeFrame = FrameOf<'invokefunction'>;
export type ResultFrame = FrameOf<'invocationresult'>;
export type EventFrame = FrameOf<'invocationevent'>;

/** Optional features that an engine or a worker may announce. */
export const FEATURE_CANCEL = 'cancel';
/** A worker asks for it, and an engine confirms it, with `engine::workers::register`. */
export const FEATURE_CALLER = 'caller';
/** The worker reports the file changes of its calls, when the engine asks. */
export const FEATURE_CHANGES = 'changes';
/** The worker reports events of its calls, when their caller asks. */
export const FEATURE_EVENTS = 'events';

/** The engine limits a call to the grants that its peer sends with `on_behalf_of`. */
export const FEATURE_ON_BEHALF = 'on_behalf';

export type DecodedFrame = { frame: Frame } | { problem: string };

/** Parses one frame. A problem is for the log: peers get no answer to invalid frames. */
export function decodeFrame(jsonText: string): DecodedFrame {
  let value: unknown;
  try {
    value = JSON.parse(jsonText);
  } catch {
    return { problem: 'not JSON' };
  }
  return toFrame(value);
}

/** The frame that parsed JSON is. */
export function toFrame(value: unknown): DecodedFrame {
  const plain = asPlainFrame(value);
  if (plain) return { frame: plain };
  const parsed = FrameSchema.safeParse(value);
  if (parsed.success) return { frame: parsed.data };

  const [issue] = parsed.error.issues;
  return { problem: `${issue?.path.join('.') || 'frame'}: ${issue?.message ?? 'not a frame'}` };
}

function nestsDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => nestsDeeperThan(inner, levels - 1));
}

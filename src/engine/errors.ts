/** The engine's own errors. These codes are in `error.code` as they are, without a handler's wrapping. */
import { defineErrors, type Failure } from '#contract';
import type { ErrorBody } from '#protocol';

export const errors = defineErrors({
  function_not_found: {
    meaning: 'No live worker has registered this function id.',
    http: 404,
    message: (d: { id: string; namespace: string; elsewhere: string[]; hint: string }) =>
      `Function ${d.id} not found` +
      (d.namespace === 'default' ? '' : ` in namespace ${d.namespace}.`) +
      (d.elsewhere.length > 0 ? ` It is registered in namespace(s): ${d.elsewhere.join(', ')}.` : d.hint),
  },
  invocation_stopped: {
    meaning: 'The worker that ran the call disconnected before it answered. The call may have had effects.',
    http: 503,
    retryable: true,
    message: (_: object) => 'Invocation stopped',
  },
  channel_send_failed: {
    meaning: 'The call could not be handed to the worker: its connection is closed or it does not read.',
    http: 503,
    retryable: true,
    message: (d: { id: string; why: string }) => `${d.id} could not be called: ${d.why}`,
  },
  payload_too_large: {
    meaning: 'A message is larger than the engine takes. Send bulk data through a channel.',
    http: 413,
    message: (d: { what: 'request' | 'result'; bytes: number; limit: number }) =>
      `the ${d.what} is ${d.bytes} bytes; the limit is ${d.limit}: use a channel (engine::channels::create) for bulk data`,
  },
  not_json: {
    meaning: 'A payload or a result cannot be written as JSON, for example because it is nested too deep.',
    http: 422,
    message: (d: { what: 'request' | 'result' }) =>
      `the ${d.what} cannot be written as JSON: it may be nested too deep or hold a BigInt; send that part as a string`,
  },
  too_many_calls: {
    meaning: 'One connection has too many calls waiting for their answer.',
    http: 429,
    retryable: true,
    message: (d: { limit: number }) => `${d.limit} calls of this connection are still unanswered: wait for some first`,
  },
  limit_reached: {
    meaning: 'A cap of the engine is reached.',
    http: 429,
    message: (d: { what: string; limit: number }) => `the engine allows ${d.limit} ${d.what}`,
  },
  TIMEOUT: {
    meaning: 'No answer came within the engine deadline.',
    http: 504,
    message: (d: { ms: number }) => `invocation timed out after ${d.ms}ms: check its effects before you call it again`,
  },
  CANCELLED: {
    meaning: 'A person ended the call in the console.',
    http: 409,
    message: (_: object) => 'a person cancelled this call in the console: ask before you make it again',
  },
  enqueue_error: {
    meaning: 'The action `enqueue` needs a worker that offers engine::queue::enqueue: there is none, or it refused.',
    http: 501,
    message: (d: { id: string; queue: string }) =>
      `no queue provider is installed, so ${d.id} was not put on queue "${d.queue}": call it without the enqueue action, or start a worker that offers engine::queue::enqueue`,
  },
  INVALID_NAMESPACE: {
    meaning: 'A namespace was given but is blank.',
    http: 400,
    message: (_: object) => 'namespace is blank: leave it out for the default namespace',
  },
  NOT_FOUND: {
    meaning: 'The request names something that does not exist, or no longer exists.',
    http: 404,
    message: (d: { text: string }) => d.text,
  },
  INVALID_ARGUMENTS: {
    meaning: 'The fields of the request contradict each other.',
    http: 400,
    message: (d: { text: string }) => d.text,
  },
  deserialization_error: {
    meaning: 'The request of an engine function does not fit its schema.',
    http: 400,
    message: (d: { id: string; problem: string }) => `Failed to deserialize input for ${d.id}: ${d.problem}`,
  },
  forbidden: {
    meaning: 'The caller may not call this function: its grants do not include it, or the app denies it.',
    http: 403,
    message: (d: { text: string }) => d.text,
  },
  console_only: {
    meaning: 'Only a console page of this server may read payloads and results of calls, or stop calls of others.',
    http: 403,
    message: (_: object) =>
      'this is for the console only: open this server in a browser; where callers have a policy, give the page the key that `workcell approvals key` prints',
  },
  operator_only: {
    meaning: "Approving a call, or draining a node, needs the operator's key.",
    http: 403,
    message: ({ what = 'approving', command = 'workcell approvals approve' }: { what?: string; command?: string }) =>
      `${what} needs the operator's key: send the key that \`workcell approvals key\` prints as the token, or use \`${command}\``,
  },
  trigger_registration_failed: {
    meaning: 'The provider of the trigger type refused the binding.',
    http: 422,
    message: (d: { text: string }) => d.text,
  },
  internal_error: {
    meaning: 'A bug in the engine; the log has it under the call id.',
    http: 500,
    message: (d: { callId: string }) => `internal error, see the engine's log for call ${d.callId}`,
  },
});

export const { fail } = errors;

export function plainBody(failure: Failure): ErrorBody {
  return { code: failure.code, message: failure.message };
}

/**
 * The shapes of an error on the wire, and the only code that writes or reads them.
 *
 * A worker cannot choose `error.code` on the iii bus: every handler failure arrives as `invocation_failed`. A coded
 * failure of ours is compact JSON as the whole message, so that callers can parse it; workers of iii in Rust put the
 * text `handler error: ` before it, so a reader searches for the first brace.
 */

export interface ErrorBody {
  code: string;
  message: string;
  /** Omitted when absent: the published Node client misreads an explicit null. */
  stacktrace?: string;
}

/** The fields of a failure, in whichever form it was written. */
export interface FailureFields {
  code: string;
  message: string;
  [extra: string]: unknown;
}

const HANDLER_FAILED = 'invocation_failed';
const HANDLER_PREFIX = 'handler error: ';

/** A coded failure: the message is its JSON and nothing else. */
export function handlerFailure(fields: FailureFields): ErrorBody {
  return { code: HANDLER_FAILED, message: JSON.stringify(fields) };
}

/** A failure without a code, as a handler of an iii worker sends it. */
export function handlerText(message: string): ErrorBody {
  return { code: HANDLER_FAILED, message: HANDLER_PREFIX + message };
}

/** The failure behind an error body: the coded one inside the text when there is one, else the body itself. */
export function readErrorBody(body: ErrorBody): FailureFields {
  return codedFailureIn(body.message) ?? { code: body.code, message: withoutPrefix(body.message) };
}

/** Makes an error body of anything a peer put into `error`; never forwards `stacktrace: null`. */
export function toErrorBody(error: unknown): ErrorBody {
  if (typeof error !== 'object' || error === null) return { code: 'UNKNOWN', message: String(error) };

  const { code, message, stacktrace } = error as Record<string, unknown>;
  if (typeof code !== 'string' || typeof message !== 'string') {
    return { code: 'UNKNOWN', message: textOf(error) };
  }
  return typeof stacktrace === 'string' ? { code, message, stacktrace } : { code, message };
}

/** A peer may nest an error so deep that it cannot be serialized again. */
function textOf(error: object): string {
  try {
    return JSON.stringify(error);
  } catch {
    return 'an error that cannot be written as JSON';
  }
}

function codedFailureIn(message: string): FailureFields | undefined {
  const start = message.indexOf('{');
  if (start < 0) return undefined;
  try {
    const value: unknown = JSON.parse(message.slice(start));
    return isFailureFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFailureFields(value: unknown): value is FailureFields {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message } = value as Record<string, unknown>;
  return typeof code === 'string' && typeof message === 'string';
}

function withoutPrefix(message: string): string {
  return message.startsWith(HANDLER_PREFIX) ? message.slice(HANDLER_PREFIX.length) : message;
}

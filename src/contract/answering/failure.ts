/** The failure that a call is answered with when its handler threw. */
import type { IncomingCall } from '../call-scope.ts';
import { Failure } from '../define-errors.ts';
import type { AnyWorker } from '../define-worker.ts';
import type { Door } from '../doors/door.ts';
import { fixRequest } from '../doors/fix-request.ts';
import type { Log } from '../log.ts';
import type { CallControl } from './call-control.ts';
import { logOf } from './scope.ts';

/** A worker with its context open, ready to answer calls. */
export interface OpenWorker<Context = unknown> {
  readonly def: Pick<AnyWorker, 'name' | 'failures' | 'translate' | 'spell' | 'failedResult' | 'changes'>;
  readonly context: Context;
}

interface About {
  call: IncomingCall;
  functionId: string;
  door: Door | undefined;
  log: Log;
  control: CallControl;
}

export function toFailure(thrown: unknown, worker: OpenWorker, about: About): Failure {
  return withFixedRequest(knownFailure(thrown, worker, about), about.call.payload);
}

function knownFailure(thrown: unknown, { def, context }: OpenWorker, about: About): Failure {
  if (thrown instanceof Failure) return thrown;

  const { call, functionId, door, control } = about;
  const known = def.translate(thrown, { context, door });
  if (known) return known;

  const log = logOf(call, about.log);
  if (control.isBehind(thrown)) {
    log.debug('a call ended by its cancel or deadline', { function: functionId, reason: String(thrown) });
  } else {
    const stack = thrown instanceof Error ? thrown.stack : String(thrown);
    log.error('unexpected error in a handler', { function: functionId, stack });
  }
  return def.failures.internal(call.callId);
}

function withFixedRequest(failure: Failure, payload: unknown): Failure {
  const { code, message, extra, cause } = failure;
  if (typeof extra.fix !== 'object' || extra.fix === null) return failure;
  return new Failure({ code, message, extra: { ...extra, ...fixRequest(extra.fix, payload) } }, cause);
}

/** The change that a call works in: of its request, or of the session that it came from. */
import type { IncomingCall } from '../call-scope.ts';
import { boundChange, takesChange } from '../change-field.ts';
import type { FunctionDef } from '../define-function.ts';
import type { AnyWorker } from '../define-worker.ts';

export function changeOf(
  { named }: Pick<NonNullable<AnyWorker['changes']>, 'named'>,
  request: unknown,
  metadata: unknown,
): string | undefined {
  const asked = named === 'field' ? (request as { change?: string | null }).change : undefined;
  return asked ?? (metadata === undefined ? undefined : boundChange(metadata));
}

/** A session that is bound to a change needs not name it, and cannot name another. */
export function withBoundChange(
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

/** Calls as executors get them, where they cannot be sent on as they came. */
import type { InvokeFrame } from '#protocol';

/** Workers of iii authorise by this field of their payload, where the original engine puts the id of the connection. */
const CALLER_FIELD = '_caller_worker_id';

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

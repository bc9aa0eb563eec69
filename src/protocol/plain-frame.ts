/**
 * Recognizes the two frames of an ordinary call without their schemas, which take time even for absent fields.
 *
 * Whatever else a frame holds, the schemas decide about it.
 */
import type { InvokeFrame, ResultFrame } from './frames.ts';

export const MAX_ID_LENGTH = 512;

const NONE: ReadonlySet<string> = new Set();

/**
 * The value itself if it is such a frame: its schema would return an equal one. `others` are names of fields that may be
 * there as well, because the caller checks them.
 */
export function asPlainFrame(value: unknown, others = NONE): InvokeFrame | ResultFrame | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, invocation_id, function_id } = value as Record<string, unknown>;
  if ((type !== 'invokefunction' && type !== 'invocationresult') || !isId(invocation_id) || !isId(function_id)) {
    return undefined;
  }
  const content = type === 'invokefunction' ? 'data' : 'result';
  for (const name in value) {
    if (name === content || name === 'type' || name === 'invocation_id' || name === 'function_id') continue;
    if (!others.has(name)) return undefined;
  }
  return value as InvokeFrame | ResultFrame;
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_ID_LENGTH;
}

/**
 * Reads the first fields of a frame that is too large to parse.
 *
 * Clients put `type` and the ids before the payload; only top-level strings at the start are read,
 * and the scan ends at the first value of another type.
 */
import type { FrameHead } from '#protocol';

const HEAD_BYTES = 4096;
const FIELD = /\s*[{,]\s*("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*")/y;

export function readFrameHead(encoded: Buffer): FrameHead {
  const text = encoded.toString('utf8', 0, HEAD_BYTES);
  const fields = new Map<string, string>();
  FIELD.lastIndex = 0;
  for (let match = FIELD.exec(text); match; match = FIELD.exec(text)) {
    fields.set(unquote(match[1]!), unquote(match[2]!));
  }
  return {
    type: fields.get('type'),
    invocationId: fields.get('invocation_id'),
    functionId: fields.get('function_id'),
    bytes: encoded.length,
  };
}

function unquote(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return '';
  }
}

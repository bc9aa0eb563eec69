/** JSON messages between nodes: written as bytes, and read only through their schema. */
import type { z } from 'zod';

export function toBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Undefined when it is too long, not JSON, or does not fit. */
export function readAs<T>(schema: z.ZodType<T>, data: Uint8Array, maxBytes: number): T | undefined {
  if (data.length > maxBytes) return undefined;
  try {
    return schema.safeParse(parsed(data)).data;
  } catch {
    return undefined;
  }
}

/** Why `readAs` returns undefined. */
export function whyUnreadable(schema: z.ZodType, data: Uint8Array, maxBytes: number): string {
  if (data.length > maxBytes) return `it has ${data.length} bytes; the limit is ${maxBytes}`;
  try {
    const [issue] = schema.safeParse(parsed(data)).error?.issues ?? [];
    return issue ? [issue.path.join('.'), issue.message].filter(Boolean).join(': ') : 'it is readable';
  } catch {
    return 'it is not JSON';
  }
}

function parsed(data: Uint8Array): unknown {
  return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString());
}

/** JSON messages between nodes: written as bytes, and read only through their schema. */
import type { z } from 'zod';

export function toBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Undefined when it is too long, not JSON, or does not fit. */
export function readAs<T>(schema: z.ZodType<T>, data: Uint8Array, maxBytes: number): T | undefined {
  if (data.length > maxBytes) return undefined;
  try {
    return schema.safeParse(JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString())).data;
  } catch {
    return undefined;
  }
}

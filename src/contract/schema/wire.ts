/**
 * Scalars as written in the schemas of the iii bus.
 *
 * The upper bounds are checked but not published: the contract states only `format` and `minimum`.
 */
import { z } from 'zod';

const MAX_UINT32 = 0xffff_ffff;

export const uint32 = () => z.int().min(0).max(MAX_UINT32).meta({ format: 'uint32' });

/** Whole numbers up to 2^53: the range that JSON carries without loss. */
export const uint64 = () => z.int().min(0).meta({ format: 'uint64' });

/** A count in the machine's own width, as Rust's `usize` is published. */
export const uint = () => z.int().min(0).meta({ format: 'uint' });

export const int32 = () => z.int().min(-0x8000_0000).max(0x7fff_ffff).meta({ format: 'int32' });

export const int64 = () => z.int().meta({ format: 'int64' });

/** A schema that is listed under `definitions` by this name. */
export function named<T extends z.ZodType>(name: string, schema: T): T {
  return schema.meta({ id: name });
}

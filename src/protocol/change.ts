/** What a call changed in one file, as a worker reports it beside its result. */
import { z } from 'zod';

const ContentSchema = z.object({
  bytes: z.number().int().nonnegative(),
  /** Stands for exactly this content; left out where it was not read. */
  version: z.string().optional(),
});

const HunkSchema = z.object({
  /** The first line of it in the file as it was, and as it is now; lines count from 1. */
  before_line: z.number().int().nonnegative(),
  after_line: z.number().int().nonnegative(),
  /** Each with `+`, `-` or a space before it. */
  lines: z.array(z.string()),
});

export const ChangeSchema = z.object({
  path: z.string(),
  kind: z.enum(['created', 'modified', 'deleted', 'renamed', 'mode']),
  /** Where it was before it was renamed. */
  from: z.string().optional(),
  is_directory: z.boolean().optional(),
  before: ContentSchema.optional(),
  after: ContentSchema.optional(),
  /** Left out for what is not text, or too large to be compared. */
  hunks: z.array(HunkSchema).optional(),
  /** Whether lines were left out of the hunks. */
  is_cut: z.boolean().optional(),
});

export type Change = z.infer<typeof ChangeSchema>;
export type ChangeHunk = z.infer<typeof HunkSchema>;

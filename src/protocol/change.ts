/** A change of one file by a call, as a worker reports it beside its result. */
import { z } from 'zod';

const ContentSchema = z.object({
  bytes: z.number().int().nonnegative(),
  /** Identifies exactly this content; absent if it was not read. */
  version: z.string().optional(),
});

const HunkSchema = z.object({
  /** First line of the hunk in the old and in the new file; lines count from 1. */
  before_line: z.number().int().nonnegative(),
  after_line: z.number().int().nonnegative(),
  /** Lines, each after `+`, `-` or a space. */
  lines: z.array(z.string()),
});

export const ChangeSchema = z.object({
  path: z.string(),
  kind: z.enum(['created', 'modified', 'deleted', 'renamed', 'mode']),
  /** Path before a rename. */
  from: z.string().optional(),
  is_directory: z.boolean().optional(),
  before: ContentSchema.optional(),
  after: ContentSchema.optional(),
  /** Absent for binary files and files too large to compare. */
  hunks: z.array(HunkSchema).optional(),
  /** Whether the hunks are truncated. */
  is_cut: z.boolean().optional(),
});

export type Change = z.infer<typeof ChangeSchema>;
export type ChangeHunk = z.infer<typeof HunkSchema>;

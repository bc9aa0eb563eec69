/** The `change` block of the configuration. Missing keys have the shipped value. */
import { z } from 'zod';

import { wire } from '#contract';

export const configSchema = z.strictObject({
  workspace: z
    .string()
    .default('./')
    .describe('Directory that changes are made over: that of coder, shell and filesystem.'),
  max_open: wire.uint32().min(1).default(16).describe('Most changes at once, of all servers over the workspace.'),
  max_bytes: wire
    .uint64()
    .default(4 * 2 ** 30)
    .describe(
      'Most bytes in one change, measured periodically; above it, calls of other workers in the change are refused. change::list shows it.',
    ),
  max_files_diff: wire.uint32().min(1).default(100_000).describe('Most files that one diff compares.'),
  idle_days: wire.uint32().default(14).describe('A change unused for this long is listed as stale. None is removed.'),
  outside: z
    .enum(['private', 'as-is'])
    .default('private')
    .describe(
      'Access of commands in a change beside the workspace. `private`: they run inside the fence. `as-is`: as without a change.',
    ),
  fsync: z.boolean().default(true).describe('Sync each commit to disk before the call returns.'),
  commit: z
    .enum(['agent', 'console'])
    .default('agent')
    .describe(
      '`agent`: any caller may commit. `console`: only a person with the key of the operator, by `workcell change approve` or in the console.',
    ),
});

export type ChangeConfig = z.output<typeof configSchema>;

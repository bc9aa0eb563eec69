/** The `agent` block of the configuration. Missing keys have the shipped value. */
import { z } from 'zod';

import { wire } from '#contract';

export const configSchema = z.strictObject({
  base_path: z
    .string()
    .default('./')
    .describe('The workspace: every file function stays in it. The workers coder and shell should have the same.'),
  max_file_bytes: wire.uint64().default(10_485_760).describe('Largest file that is searched or changed, in bytes.'),
  reply_chars: wire
    .uint32()
    .min(1000)
    .default(12_000)
    .describe('Most characters of a reply, unless the call asks for more.'),
  kept_output_bytes: wire
    .uint64()
    .default(67_108_864)
    .describe('Most bytes of command output that are kept for `output`; the oldest go first.'),
  fence: z
    .enum(['workspace', 'off'])
    .default('workspace')
    .describe(
      '`workspace`: commands of `run` are fenced, whatever `shell.fence` says. `off`: as `shell.fence` and the allowlist of shell say.',
    ),
  search_timeout_ms: wire
    .uint32()
    .min(1)
    .max(2_147_483_647)
    .default(20_000)
    .describe('Time limit of a search, in milliseconds.'),
  fsync: z.boolean().default(true).describe('Sync each change to disk before the call returns.'),
});

export type AgentConfig = z.output<typeof configSchema>;

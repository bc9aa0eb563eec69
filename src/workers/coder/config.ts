/** The `coder` block of the configuration. Missing keys have the shipped value. */
import { z } from 'zod';

import { wire } from '#contract';

export const configSchema = z.strictObject({
  base_path: z.string().default('./').describe('Directory that every path is relative to and cannot leave.'),
  non_accessible_globs: z
    .array(z.string())
    .default([])
    .describe(
      'More files that this worker protects beside `protect`: those whose path from base_path matches are listed, but never read, searched or changed, with everything below them.',
    ),
  max_read_bytes: wire.uint64().default(10_485_760).describe('Largest file that is read or searched, in bytes.'),
  max_write_bytes: wire.uint64().default(10_485_760).describe('Largest file that is created or edited, in bytes.'),
  tree_default_depth: wire.uint32().default(4).describe('Depth of a tree when the call does not set it.'),
  tree_per_folder_limit: wire.uint32().default(50).describe('Entries of one folder that a tree shows.'),
  list_default_page_size: wire.uint32().default(100).describe('Entries on a page when the call does not set it.'),
  list_max_page_size: wire.uint32().default(1000).describe('Upper limit of entries on a page.'),
  search_default_max_matches: wire
    .uint32()
    .default(1000)
    .describe('Most matches of a search when the call does not set it.'),
  search_default_max_line_bytes: wire
    .uint32()
    .default(4096)
    .describe('Bytes shown of a matching line when the call does not set it.'),
  search_timeout_ms: wire
    .uint32()
    .min(1)
    .max(2_147_483_647)
    .default(20_000)
    .describe('Time limit of a search, and of one regex of an edit, in milliseconds.'),
  index: z.enum(['auto', 'off']).default('auto').describe('Keep file contents in memory between searches.'),
  index_memory_mb: wire.uint32().default(512).describe('Most memory for those contents, in MiB.'),
  fsync: z.boolean().default(true).describe('Sync each write to disk before the call returns.'),
});

export type CoderConfig = z.output<typeof configSchema>;

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
  tree_default_depth: wire.uint32().default(4).describe('How deep a tree goes when the call does not say.'),
  tree_per_folder_limit: wire.uint32().default(50).describe('How many entries of one folder a tree shows.'),
  list_default_page_size: wire.uint32().default(100).describe('Entries on a page when the call does not say.'),
  list_max_page_size: wire.uint32().default(1000).describe('Most entries on a page, whatever the call says.'),
  search_default_max_matches: wire
    .uint32()
    .default(1000)
    .describe('Matches after which a search stops when the call does not say.'),
  search_default_max_line_bytes: wire
    .uint32()
    .default(4096)
    .describe('Bytes of a matching line that a search shows when the call does not say.'),
  search_timeout_ms: wire
    .uint32()
    .min(1)
    .max(2_147_483_647)
    .default(20_000)
    .describe('Longest a search, or one regex of an edit, may take, in milliseconds.'),
  index: z.enum(['auto', 'off']).default('auto').describe('Whether file contents are kept in memory between searches.'),
  index_memory_mb: wire.uint32().default(512).describe('Most memory that kept file contents may take.'),
  fsync: z.boolean().default(true).describe('Whether a write is on the disk before it is answered.'),
});

export type CoderConfig = z.output<typeof configSchema>;

/** Settings for all workers: the keys of a configuration beside `workers`. */
import { z } from 'zod';

import * as wire from './schema/wire.ts';

const journalSchema = z.strictObject({
  max_bytes: wire
    .uint64()
    .default(536_870_912)
    .describe('Most bytes of former contents and of the log; the oldest records go first.'),
  max_records: wire.uint32().default(10_000).describe('Most records; 0 switches the journal off, and undo with it.'),
  max_age_days: wire.uint32().default(30).describe('Records older than this go.'),
  max_image_bytes: wire
    .uint64()
    .default(1_073_741_824)
    .describe(
      'Files larger than this or `max_bytes` are changed without their former content being kept; the call says so in its `note`.',
    ),
});

export const cellConfig = z.strictObject({
  protect: z
    .array(z.string())
    .default([
      ...['**/.env', '**/.env.*', '!**/.env.{example,sample,template}'],
      ...['**/*.pem', '**/*.key', '**/secrets/**'],
    ])
    .describe(
      'Files that no file function of any worker reaches, with everything below a folder that matches: globs over the path from the worker’s directory, in the syntax of globset. The last one that matches decides; `!` makes an exception. An empty list protects nothing. Of commands, only fenced ones are blocked.',
    ),
  state_dir: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Directory of the data that outlives the server, such as the journal. null: `workcell` in XDG_STATE_HOME, or in ~/.local/state if that is not set. No file function reaches it.',
    ),
  journal: journalSchema.default(journalSchema.parse({})).describe('Journal of file changes for `coder::undo`.'),
});

export type JournalConfig = z.output<typeof journalSchema>;
export type CellConfig = z.output<typeof cellConfig>;

/** The defaults. */
export const shippedCell: CellConfig = cellConfig.parse({});

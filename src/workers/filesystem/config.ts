/**
 * The `filesystem` block of the configuration, which is also the `constraints` of an app.
 *
 * Only an explicit `paths: null` removes the fence; a missing key has the shipped value.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { parseSize } from './size-text.ts';

export const configSchema = z.strictObject({
  paths: z
    .array(z.string())
    .nullable()
    .default(['./'])
    .refine((paths) => paths === null || paths.length > 0, 'must name a directory, or be null for no fence at all')
    .describe(
      'Directories that calls may reach, with everything below; relative paths start at the first. null allows every path.',
    ),
  max_file_size: z
    .union([z.string(), z.number()])
    .default('100MB')
    .refine((size) => parseSize(size) !== undefined, 'must be bytes, or a number with B, KB, MB or GB such as "100MB"')
    .describe('Largest file that is read, searched, written or copied: bytes, or a number with B, KB, MB or GB.'),
  search_timeout_ms: wire
    .uint32()
    .min(1)
    .max(2_147_483_647)
    .default(20_000)
    .describe('Time limit of a search, in milliseconds.'),
  fsync: z.boolean().default(true).describe('Sync each change to disk before the call returns.'),
});

export type FilesystemConfig = z.output<typeof configSchema>;

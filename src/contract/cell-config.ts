/** Settings for all workers: the keys of a configuration beside `workers`. */
import { z } from 'zod';

export const cellConfig = z.strictObject({
  protect: z
    .array(z.string())
    .default([
      ...['**/.env', '**/.env.*', '!**/.env.{example,sample,template}'],
      ...['**/*.pem', '**/*.key', '**/secrets/**'],
    ])
    .describe(
      'Files that no file function of any worker reaches, with everything below a folder that matches: globs over the path from the worker’s directory, in the syntax of globset. The last one that matches decides, and `!` takes back. An empty list protects nothing. Commands are not held back.',
    ),
});

export type CellConfig = z.output<typeof cellConfig>;

/** The defaults. */
export const shippedCell: CellConfig = cellConfig.parse({});

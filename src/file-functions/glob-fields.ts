/** Fields that select files below a directory, for grep and sed. */
import { z } from 'zod';

const GLOBS =
  'Read as lines of a .gitignore file in the directory: a glob without a `/` is about a name at any depth, one that ' +
  'matches a directory means everything below it, `build/` means directories only, and `!` takes back.';

export const belowFields = {
  recursive: z.boolean().default(true).describe('Must be true for a directory.'),
  include_glob: z
    .array(z.string())
    .default([])
    .describe(`Only files that match one of these; all when empty. ${GLOBS}`),
  exclude_glob: z.array(z.string()).default([]).describe('Skip files that match one of these; same syntax.'),
};

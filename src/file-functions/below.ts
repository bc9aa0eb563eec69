/** The fields that say which files below a directory are meant, for searching and for replacing. */
import { z } from 'zod';

const GLOBS =
  '`*` and `?` stay inside one name, `**` goes across; without a `/` the name of the file is meant, else its path from ' +
  'the directory.';

export const belowFields = {
  recursive: z.boolean().default(true).describe('Must be true for a directory.'),
  include_glob: z
    .array(z.string())
    .default([])
    .describe(`Only files that match one of these; all when empty. ${GLOBS}`),
  exclude_glob: z.array(z.string()).default([]).describe('No files that match one of these.'),
};

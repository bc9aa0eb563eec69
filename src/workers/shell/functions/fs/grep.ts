/** shell::fs::grep: searches files by regex, on this host or in a sandbox. */
import { z } from 'zod';

import { grep as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';

const request = operation.request.extend({
  respect_gitignore: z
    .boolean()
    .optional()
    .describe('Skip .git and files that .gitignore files exclude; default false. Host only.'),
});

export const grep = fileFunction(
  { id: 'shell::fs::grep' },
  { ...operation, request: request.meta(operation.request.meta() ?? {}), modelDefaults: { respect_gitignore: true } },
);

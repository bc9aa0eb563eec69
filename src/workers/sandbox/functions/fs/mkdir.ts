/** sandbox::fs::mkdir: creates a directory in a sandbox. A missing parent is reported with the fix. */
import { dirname } from 'node:path/posix';

import { mkdir as operation } from '#file-functions';
import { HostError } from '#host';
import { errors } from '../../errors.ts';
import { fileFunction } from '../../file-function.ts';

export const mkdir = fileFunction(
  { id: 'sandbox::fs::mkdir' },
  {
    ...operation,
    async handle(request, context, scope) {
      try {
        return await operation.handle(request, context, scope);
      } catch (error) {
        const { path, parents } = request;
        const isParent = error instanceof HostError && error.reason === 'missing' && !parents;
        throw isParent ? errors.fail('S211', { path, parent: dirname(path) }, error) : error;
      }
    },
  },
);

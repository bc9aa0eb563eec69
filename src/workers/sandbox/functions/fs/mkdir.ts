/** sandbox::fs::mkdir: creates a directory in a sandbox. A missing parent is reported with the fix. */
import { mkdir as operation } from '#file-functions';
import { fileFunction } from '../../file-function.ts';
import { withMissingParent } from '../../missing-parent.ts';

export const mkdir = fileFunction(
  { id: 'sandbox::fs::mkdir' },
  {
    ...operation,
    handle: (request, context, scope) => withMissingParent(operation.handle(request, context, scope), request),
  },
);

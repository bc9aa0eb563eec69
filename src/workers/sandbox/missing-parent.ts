/** Names the missing parent directory in a "not found" error, with the fix. */
import { dirname } from 'node:path/posix';

import { HostError } from '#host';
import { errors } from './errors.ts';

export async function withMissingParent<T>(
  work: Promise<T>,
  { path, parents }: { path: string; parents: boolean },
): Promise<T> {
  return work.catch((error: unknown) => {
    const isParent = error instanceof HostError && error.reason === 'missing' && !parents;
    throw isParent ? errors.fail('S211', { path, parent: dirname(path) }, error) : error;
  });
}

/** change::discard: removes a change with everything in it. */
import { z } from 'zod';

import { wire } from '#contract';
import { change } from '../worker.ts';

export const discard = change.defineFunction({
  id: 'change::discard',
  summary: 'Discard a change with everything in it. Ends its commands first; the workspace stays as it is.',
  effect: 'delete',
  permissions: ['fs.write'],
  subject: { paths: [] },
  request: z.object({ change: z.string().describe('Name of the change.') }),
  response: z.object({ discarded: z.string(), files: wire.uint64(), bytes: wire.uint64() }),
  reads: { line: ['change'] },
  errors: ['W210', 'W211', 'W216', 'W217'],
  examples: [],

  async handle({ change: name }, { layers }) {
    const { files, bytes } = await layers.discard(name);
    return { discarded: name, files, bytes };
  },
});

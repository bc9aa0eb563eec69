/** change::begin: opens a layer over the workspace. */
import { z } from 'zod';

import { wire } from '#contract';
import { errors } from '../errors.ts';
import { change } from '../worker.ts';

export const begin = change.defineFunction({
  id: 'change::begin',
  summary: 'Begin a change: calls that name it read and write a layer of their own, and the workspace stays as it is.',
  details:
    'Send the returned `change` with calls of coder, shell and filesystem. Files that were not changed in it are those of the workspace. It outlives the server.',
  effect: 'write',
  permissions: ['fs.write'],
  request: z.object({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9 and -, and not start with -')
      .optional()
      .describe('Name, unique among open changes. Default: a generated one.'),
    outside: z
      .enum(['private', 'as-is'])
      .optional()
      .describe('Access of commands beside the workspace; only stricter than the configuration, which is the default.'),
    network: z
      .enum(['host', 'none'])
      .default('host')
      .describe(
        '`host`: the network that commands have without a change. `none`: only a loopback address of their own; needs `outside: private`.',
      ),
    note: z.string().max(500).optional().describe('Purpose of the change, for lists and the console.'),
  }),
  response: z.object({
    change: z.string(),
    began_at_ms: wire.uint64(),
    mount: z.enum(['overlay', 'overlay-user']).describe('`overlay-user`: folders of the workspace cannot be renamed.'),
    outside: z.enum(['private', 'as-is']),
    workspace: z.string(),
  }),
  reads: { line: ['name'] },
  errors: ['W210', 'W214', 'W215', 'W216', 'W217'],
  examples: [{}, { name: 'rename-config', note: 'one name for both settings' }],

  async handle({ name, outside, network, note }, { layers, config }) {
    if (outside === 'as-is' && config.outside === 'private') {
      throw errors.fail('W210', {
        problem: 'outside: "as-is" is less strict than change.outside of the operator; leave it out',
      });
    }
    const meta = { outside: outside ?? config.outside, network, note: note ?? '' };
    if (network === 'none' && meta.outside === 'as-is') {
      throw errors.fail('W210', {
        problem:
          'network: "none" needs the fence, and with outside: "as-is" commands run without it; send outside: "private"',
        fix: { outside: 'private' },
      });
    }
    const begun = await layers.begin({ name, ...meta });
    const { mount, beganAtMs } = begun;
    return { change: begun.name, began_at_ms: beganAtMs, mount, outside: meta.outside, workspace: layers.workspace };
  },
});

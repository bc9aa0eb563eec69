/** workcell nodes drain and resume: lets a node take no new sandboxes, or take them again. */
import { z } from 'zod';

import { didYouMean } from '#contract';
import { UsageError, type Command } from '../../command.ts';
import { addressOptions } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { accessOptions } from '../access/access-options.ts';
import { asOperator } from '../access/as-operator.ts';

const Nodes = z.object({ nodes: z.array(z.object({ name: z.string(), aliases: z.array(z.string()) })) });
const Reply = z.object({
  node: z.object({ state: z.string(), sandboxes: z.object({ living: z.number() }).optional() }),
});

function drainCommand(name: 'drain' | 'resume', words: Pick<Command, 'summary' | 'details'>): Command {
  return {
    name: `nodes ${name}`,
    ...words,
    usage: 'NODE',
    options: {
      json: { type: 'boolean', description: 'Print the reply as JSON.' },
      ...accessOptions,
      ...addressOptions,
    },
    examples: [`workcell nodes ${name} build-7`],
    minWords: 1,
    maxWords: 1,

    async run({ words: [node], options }) {
      const reply = await asOperator(options, async (bus) => {
        const { nodes } = Nodes.parse(await bus.call('engine::nodes::list', {}));
        const names = nodes.flatMap((row) => [row.name, ...row.aliases]);
        if (!names.includes(node!)) {
          throw new UsageError(`no node "${node}" is in this cluster${didYouMean(node!, names)}; see workcell nodes`);
        }
        return bus.call('engine::nodes::drain', { resume: name === 'resume' }, { namespace: node! });
      });
      const { state, sandboxes } = Reply.parse(reply).node;
      const living = sandboxes?.living ?? 0;
      printReply(
        options,
        reply,
        () => `${node} is ${state}, with ${living} ${living === 1 ? 'sandbox' : 'sandboxes'}\n`,
      );
      return EXIT.ok;
    },
  };
}

export const nodesDrain = drainCommand('drain', {
  summary: 'Stop placing sandboxes on a node of the cluster.',
  details:
    'Its sandboxes run until they end by themselves; workcell nodes shows how many are left. A node that is stopped\n' +
    'with SIGTERM drains by itself, for at most --drain-timeout of workcell start. Run it on a node with the role door,\n' +
    "as its user: it sends the operator's key.",
});

export const nodesResume = drainCommand('resume', {
  summary: 'Place sandboxes on a drained node of the cluster again.',
});

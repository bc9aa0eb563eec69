/** workcell nodes: lists the nodes of the cluster. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { duration } from '../../render.ts';

const Reply = z.object({
  nodes: z.array(
    z.object({
      name: z.string(),
      state: z.string(),
      roles: z.array(z.string()),
      aliases: z.array(z.string()),
      labels: z.record(z.string(), z.string()).default({}),
      version: z.string(),
      self: z.boolean(),
      joined_ms: z.number(),
      heard_ms_ago: z.number(),
      calls_out: z.number(),
      calls_in: z.number(),
      functions: z.number(),
      sandboxes: z.object({ living: z.number(), max: z.number() }).optional(),
    }),
  ),
});

const HEAD = [
  ...['NODE', 'STATE', 'ROLES', 'AGE', 'HEARD', 'SANDBOXES'],
  ...['CALLS_OUT', 'CALLS_IN', 'FUNCTIONS', 'VERSION', 'ALIASES', 'LABELS'],
];

export const nodes: Command = {
  name: 'nodes',
  summary: 'List the nodes of the cluster, as the engine knows them.',
  details:
    'SANDBOXES: running ones and the limit. CALLS_OUT: calls of this engine that run on the node. CALLS_IN: calls of the\n' +
    'node that run on this engine. Call functions of a node with its name as namespace: workcell call ID -n NODE.',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  examples: ['workcell nodes', 'workcell nodes --json'],
  maxWords: 0,

  async run({ options }) {
    const reply = await withEngine(options, (bus) => bus.call('engine::nodes::list', {}));
    const rows = Reply.parse(reply).nodes.map(toRow);
    printReply(options, reply, () =>
      rows.length > 0
        ? { head: HEAD, rows }
        : 'This engine is in no cluster: workcell start --cluster nats://HOST:4222\n',
    );
    return EXIT.ok;
  },
};

function toRow(node: z.output<typeof Reply>['nodes'][number]): string[] {
  return [
    node.self ? `${node.name} (this)` : node.name,
    node.state,
    node.roles.join(','),
    duration(Math.max(0, Date.now() - node.joined_ms)),
    node.self ? '' : `${(node.heard_ms_ago / 1000).toFixed(1)}s`,
    node.sandboxes ? `${node.sandboxes.living}/${node.sandboxes.max}` : '',
    String(node.calls_out),
    String(node.calls_in),
    String(node.functions),
    node.version,
    node.aliases.join(','),
    Object.entries(node.labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  ];
}

/** workcell approvals list: the calls that wait for a person. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { duration } from '../../render.ts';
import { accessOptions } from './access-options.ts';
import { asOperator } from './as-operator.ts';

const Reply = z.object({
  approvals: z.array(
    z.object({
      id: z.string(),
      function_id: z.string(),
      caller: z.object({ label: z.string() }),
      line: z.string().nullable(),
      reason: z.string().nullable(),
      asked_at_ms: z.number(),
    }),
  ),
});

export const approvalsList: Command = {
  name: 'approvals list',
  summary: 'List the calls that wait for your approval.',
  details: 'Only on the machine of the server, as its user: the command sends a key from its state directory.',
  options: { json: { type: 'boolean', description: 'Print JSON.' }, ...accessOptions, ...addressOptions },
  maxWords: 0,

  async run({ options }) {
    const reply = await asOperator(options, (bus) => bus.call('engine::approvals::list', {}));
    const { approvals } = Reply.parse(reply);
    const rows = approvals.map(({ id, function_id, caller, line, reason, asked_at_ms }) => [
      ...[id, caller.label, function_id, line ?? '', reason ?? ''],
      duration(Date.now() - asked_at_ms),
    ]);
    const shown = { head: ['ID', 'CALLER', 'FUNCTION', 'WHAT', 'WHY', 'WAITS'], rows };
    printReply(options, reply, () => (rows.length === 0 ? 'Nothing waits.\n' : shown));
    return EXIT.ok;
  },
};

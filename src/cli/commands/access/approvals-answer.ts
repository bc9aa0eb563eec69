/** workcell approvals approve and deny: answers a call that waits for a person. */
import type { Command, CommandInput } from '../../command.ts';
import { addressOptions } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { accessOptions } from './access-options.ts';
import { asOperator } from './as-operator.ts';

export const approvalsApprove: Command = {
  name: 'approvals approve',
  summary: 'Approve a waiting call, so that it runs.',
  usage: 'ID',
  details: '`workcell approvals list` shows the ids.',
  options: {
    always: {
      type: 'boolean',
      description: 'Also approve later calls of this caller that the same rule asks about, until the server ends.',
    },
    ...accessOptions,
    ...addressOptions,
  },
  minWords: 1,
  maxWords: 1,

  run: (input) => answer(input, input.options.always === true ? 'always' : 'approve'),
};

export const approvalsDeny: Command = {
  name: 'approvals deny',
  summary: 'Refuse a waiting call.',
  usage: 'ID',
  options: { ...accessOptions, ...addressOptions },
  minWords: 1,
  maxWords: 1,

  run: (input) => answer(input, 'deny'),
};

async function answer({ words: [id], options }: CommandInput, given: string): Promise<number> {
  await asOperator(options, (bus) => bus.call('engine::approvals::answer', { id, answer: given }));
  process.stdout.write(`${given === 'deny' ? 'denied' : 'approved'} ${id}\n`);
  return EXIT.ok;
}

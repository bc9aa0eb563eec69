/** workcell change approve: commits a change that waits for a person. */
import type { Command } from '../../command.ts';
import { accessOptions } from '../access/access-options.ts';
import { asOperator } from '../access/as-operator.ts';
import { changeCommit, commitBy } from './commit.ts';

export const changeApprove: Command = {
  ...changeCommit,
  name: 'change approve',
  summary: 'Approve a change that waits for a person, and commit it. Read `workcell change diff` first.',
  details:
    'Only on the machine of the server, as its user: the command sends a key from its state directory. Otherwise the same as ' +
    '`workcell change commit`.',
  options: { ...changeCommit.options, ...accessOptions },
  examples: ['workcell change diff try-it', 'workcell change approve try-it --version sha256:…'],

  run: commitBy(asOperator),
};

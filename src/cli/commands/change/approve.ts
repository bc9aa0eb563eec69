/** workcell change approve: commits a change that waits for a person. */
import type { Command } from '../../command.ts';
import { changeCommit } from './commit.ts';

export const changeApprove: Command = {
  ...changeCommit,
  name: 'change approve',
  summary: 'Approve a change that waits for a person, and commit it. Look at `workcell change diff` first.',
  details: 'The same as `workcell change commit`, by the name of what it does where agents may not commit.',
  examples: ['workcell change diff try-it', 'workcell change approve try-it'],
};

/** workcell approvals key: prints the operator's key, with which a console page may approve changes. */
import { operatorKeyIn } from '#assembly';
import type { Command } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { accessOptions, readAccess } from './access-options.ts';

export const approvalsKey: Command = {
  name: 'approvals key',
  summary: "Print the operator's key, for a console page that asks for it.",
  details:
    'Only on the machine of the server, as its user. A program with the key may approve everything that waits for a person.',
  options: { ...accessOptions },
  maxWords: 0,

  async run({ options }) {
    process.stdout.write(`${operatorKeyIn(readAccess(options).stateDir)}\n`);
    return EXIT.ok;
  },
};

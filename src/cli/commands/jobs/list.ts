/** workcell jobs list: lists the background jobs of the shell worker. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { jobRows, jobTable } from '../../job-table.ts';
import { printReply } from '../../print.ts';

const Reply = z.object({ jobs: z.array(jobRows) });

export const jobsList: Command = {
  name: 'jobs list',
  summary: 'List the background jobs of the shell worker.',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  maxWords: 0,

  async run({ options }) {
    const reply = await withEngine(options, (bus) => bus.call('shell::list', {}));
    const { jobs } = Reply.parse(reply);
    printReply(options, reply, () => jobTable(jobs));
    return EXIT.ok;
  },
};

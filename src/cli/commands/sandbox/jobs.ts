/** workcell sandbox jobs: lists the background jobs of sandboxes, or kills one. */
import { z } from 'zod';

import { valueOption, type Command } from '../../command.ts';
import { addressOptions, text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { jobRows, jobTable } from '../../job-table.ts';
import { printReply, printText } from '../../print.ts';
import { reportingFailures } from '../../sandbox/sandbox-command.ts';
import { findSandboxes } from '../../sandbox/find-sandboxes.ts';

const Reply = z.object({ jobs: z.array(jobRows.extend({ sandbox_id: z.string() })) });
const Killed = z.object({ killed: z.boolean(), status: z.string() });

export const sandboxJobs: Command = {
  name: 'sandbox jobs',
  summary: 'List the background jobs of sandboxes that run or have ended lately.',
  usage: '[<sandbox>]',
  details:
    'A sandbox is named by its id, the beginning of its id, or its name; without one, the jobs of all are listed.',
  options: {
    kill: valueOption(
      'JOB',
      'Kill this job and everything it started instead; exits 1 when there was nothing to kill.',
    ),
    json: { type: 'boolean', description: 'Print the reply as JSON.' },
    ...addressOptions,
  },
  maxWords: 1,

  run({ words, options }) {
    return reportingFailures(options, async (bus) => {
      const victim = text(options.kill);
      if (victim !== undefined) {
        const { killed, status } = Killed.parse(await bus.call('sandbox::kill', { job_id: victim }));
        printText(`${victim}: ${status}\n`);
        return killed ? EXIT.ok : EXIT.failed;
      }
      const [sandbox_id] = await findSandboxes(bus, words);
      const reply = await bus.call('sandbox::jobs', { sandbox_id });
      const { jobs } = Reply.parse(reply);
      printReply(options, reply, () => jobTable(jobs, { first: ['SANDBOX', ({ sandbox_id: id }) => id] }));
      return EXIT.ok;
    });
  },
};

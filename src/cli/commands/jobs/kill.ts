/** workcell jobs kill: kills a background job with everything it started. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';

const Reply = z.object({ job_id: z.string(), killed: z.boolean(), status: z.string(), reason: z.string().nullish() });

export const jobsKill: Command = {
  name: 'jobs kill',
  summary: 'Kill a background job and everything it started.',
  usage: '<job-id>',
  details: 'Exits 1 when there was nothing to kill.',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  minWords: 1,
  maxWords: 1,

  async run({ words: [jobId], options }) {
    const reply = await withEngine(options, (bus) => bus.call('shell::kill', { job_id: jobId }));
    const { job_id, killed, status, reason } = Reply.parse(reply);
    const why = reason == null ? '' : ` (${reason})`;
    printReply(options, reply, () => `${job_id}: ${killed ? 'killed' : status}${why}\n`);
    return killed ? EXIT.ok : EXIT.failed;
  },
};

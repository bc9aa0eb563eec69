/** workcell jobs list: lists the background jobs of the shell worker. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { table } from '../../render.ts';

const Reply = z.object({
  jobs: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      exit_code: z.int().nullish(),
      started_at_ms: z.number(),
      finished_at_ms: z.number().nullish(),
    }),
  ),
});

export const jobsList: Command = {
  name: 'jobs list',
  summary: 'List the background jobs of the shell worker.',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  maxWords: 0,

  async run({ options }) {
    const reply = await withEngine(options, (bus) => bus.call('shell::list', {}));
    const { jobs } = Reply.parse(reply);
    const rows = jobs.map((job) => [
      ...[job.id, job.status, String(job.exit_code ?? '')],
      ...[shown(job.started_at_ms), shown(job.finished_at_ms)],
    ]);
    const list = () => table(['JOB', 'STATUS', 'EXIT', 'STARTED', 'ENDED'], rows);
    printReply(options, reply, () => (jobs.length === 0 ? 'No jobs.\n' : list()));
    return EXIT.ok;
  },
};

function shown(ms: number | null | undefined): string {
  return ms == null ? '' : new Date(ms).toISOString();
}

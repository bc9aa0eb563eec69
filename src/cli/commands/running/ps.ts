/** workcell ps: lists running jobs and sandboxes: `ps` means processes to some and containers to others. */
import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { duration } from '../../render.ts';
import { runningJobs, runningSandboxes } from './listed.ts';

export const ps: Command = {
  name: 'ps',
  summary: 'List running background jobs and sandboxes.',
  details: '`workcell jobs list` also has the jobs that ended, `workcell sandbox list` more about each sandbox.',
  options: { json: { type: 'boolean', description: 'Print JSON.' }, ...addressOptions },
  maxWords: 0,

  run: ({ options }) =>
    withEngine(options, async (bus) => {
      const [jobs, sandboxes] = await Promise.all([runningJobs(bus), runningSandboxes(bus)]);
      const rows = [
        ...jobs.map(({ id, started_at_ms }) => ['job', id, duration(Date.now() - started_at_ms), '']),
        ...sandboxes.map(({ sandbox_id, age_secs, image, name }) => [
          ...['sandbox', sandbox_id, duration(age_secs * 1000)],
          name == null ? image : `${image} ${name}`,
        ]),
      ];
      const shown = { head: ['KIND', 'ID', 'AGE', 'WHAT'], rows };
      printReply(options, { jobs, sandboxes }, () => (rows.length === 0 ? 'Nothing runs.\n' : shown));
      return EXIT.ok;
    }),
};

/** workcell status: reports whether the server runs, and its connections. */
import { z } from 'zod';

import { UsageError, type Command } from '../../command.ts';
import { addressOptions, engineUrl, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { runningJobs, runningSandboxes } from './listed.ts';

const Workers = z.object({
  workers: z.array(z.object({ name: z.string(), version: z.string(), function_count: z.int() })),
});

export const status: Command = {
  name: 'status',
  summary: 'Show whether the server answers, its workers, and how much runs.',
  details: 'Exits 3 when no server answers. `workcell jobs status <job-id>` shows one job.',
  options: { json: { type: 'boolean', description: 'Print JSON.' }, ...addressOptions },

  run({ words: [word], options }) {
    if (word !== undefined) {
      throw new UsageError(
        `status is about the server; of a job: workcell jobs status ${word}, of a sandbox: workcell sandbox list`,
      );
    }
    return withEngine(options, async (bus) => {
      const [listed, jobs, sandboxes] = await Promise.all([
        bus.call('engine::workers::list'),
        runningJobs(bus),
        runningSandboxes(bus),
      ]);
      const workers = Workers.parse(listed).workers.filter(({ function_count }) => function_count > 0);
      const found = { url: engineUrl(options), workers, jobs: jobs.length, sandboxes: sandboxes.length };
      printReply(options, found, () => asText(found));
      return EXIT.ok;
    });
  },
};

function asText(found: { url: string; jobs: number; sandboxes: number } & z.output<typeof Workers>): string {
  const workers = found.workers.map(({ name, version, function_count }) => `${name} ${version} (${function_count})`);
  return [
    `running on ${found.url}`,
    `  workers    ${workers.join(', ') || 'none'}`,
    `  jobs       ${found.jobs}`,
    `  sandboxes  ${found.sandboxes}`,
    '',
  ].join('\n');
}

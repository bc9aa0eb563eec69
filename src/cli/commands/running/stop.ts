/**
 * workcell stop: stops a background job or a sandbox, whichever the word names.
 *
 * Stopping a sandbox deletes it, so a word that could be both, or neither, is refused with the exact command for each.
 * The server itself is stopped by a signal.
 */
import type { Bus } from '#contract';
import { UsageError, type Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printText } from '../../print.ts';
import { runningJobs, runningSandboxes } from './listed.ts';

export const stop: Command = {
  name: 'stop',
  summary: 'Stop a background job or a sandbox, whichever the id names.',
  usage: '<job-id|sandbox>',
  details:
    'A job is named by its id; a sandbox by its id, the beginning of its id, or its name, and it is deleted. The server ' +
    'stops on Ctrl+C in its terminal, or on SIGTERM.',
  options: addressOptions,
  examples: ['workcell stop lab'],
  maxWords: 1,

  run({ words: [word], options }) {
    if (!word) {
      throw new UsageError(
        'stop needs a job or a sandbox, see workcell ps; the server stops on Ctrl+C in its terminal, or on SIGTERM',
      );
    }
    return withEngine(options, async (bus) => {
      const { call, request, id } = await meant(bus, word);
      await bus.call(call, request);
      printText(`stopped ${id}\n`);
      return EXIT.ok;
    });
  },
};

async function meant(bus: Bus, word: string) {
  const [jobs, sandboxes] = await Promise.all([runningJobs(bus), runningSandboxes(bus)]);
  const job = jobs.find(({ id }) => id === word);
  const named = sandboxes.filter(({ name }) => name === word);
  const found = named.length > 0 ? named : sandboxes.filter(({ sandbox_id }) => sandbox_id.startsWith(word));
  if (job && found.length === 0) return { id: job.id, call: 'shell::kill', request: { job_id: job.id } };
  if (!job && found.length === 1) {
    const { sandbox_id } = found[0]!;
    return { id: sandbox_id, call: 'sandbox::stop', request: { sandbox_id, wait: true } };
  }
  const problem = job || found.length > 0 ? `"${word}" names several` : `nothing that runs is named "${word}"`;
  throw new UsageError(
    `${problem}; exact are: workcell jobs kill <job-id>, workcell sandbox stop <sandbox>; workcell ps lists both`,
  );
}

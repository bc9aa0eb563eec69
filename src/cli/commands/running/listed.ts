/** Background jobs and sandboxes of a running engine, each empty where no worker has them. */
import { z } from 'zod';

import { CallError, type Bus } from '#contract';

const Jobs = z.object({
  jobs: z.array(z.object({ id: z.string(), status: z.string(), started_at_ms: z.number() })),
});
const Sandboxes = z.object({
  sandboxes: z.array(
    z.object({ sandbox_id: z.string(), image: z.string(), age_secs: z.number(), name: z.string().nullish() }),
  ),
});

export type Job = z.output<typeof Jobs>['jobs'][number];
export type Sandbox = z.output<typeof Sandboxes>['sandboxes'][number];

export async function runningJobs(bus: Bus): Promise<Job[]> {
  const { jobs } = Jobs.parse((await called(bus, 'shell::list')) ?? { jobs: [] });
  return jobs.filter(({ status }) => status === 'running');
}

export async function runningSandboxes(bus: Bus): Promise<Sandbox[]> {
  return Sandboxes.parse((await called(bus, 'sandbox::list')) ?? { sandboxes: [] }).sandboxes;
}

/** Undefined where no worker serves the function. */
async function called(bus: Bus, functionId: string): Promise<unknown> {
  try {
    return await bus.call(functionId, {});
  } catch (error) {
    if (error instanceof CallError && error.code === 'function_not_found') return undefined;
    throw error;
  }
}

/** Sandboxes by state, the memory that they use, and the jobs in them. */
import { byState, gauge, type Metric } from '#contract';
import type { Sandboxes } from './sandboxes.ts';

const STATES = ['starting', 'busy', 'idle', 'stopping'] as const;

export async function sandboxMetrics(sandboxes: Sandboxes): Promise<Metric[]> {
  const { all, starting, stopping } = sandboxes;
  const states = [
    ...Array.from({ length: starting }, () => 'starting'),
    ...all.map(({ execsInFlight }) => (execsInFlight > 0 ? 'busy' : 'idle')),
    ...Array.from({ length: stopping }, () => 'stopping'),
  ];
  const usages = await Promise.all(all.map(({ instance }) => instance.usage()));
  const memoryBytes = usages.reduce((sum, usage) => sum + (usage?.memoryBytes ?? 0), 0);
  return [
    gauge('workcell_sandboxes', 'Sandboxes by state.', byState(STATES, states)),
    gauge('workcell_sandbox_memory_bytes', 'Memory of all sandboxes, where the backend reports it.', memoryBytes),
    ...sandboxes.jobs.metrics(),
  ];
}

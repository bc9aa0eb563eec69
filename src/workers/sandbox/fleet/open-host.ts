/** Whether a machine of a cluster accepts a new sandbox; if not, another machine gets it. */
import type { Fleet } from '#contract';
import type { SandboxConfig } from '../config.ts';
import { errors } from '../errors.ts';

/** Throws if the machine accepts none. */
export function requireOpenHost(
  { self, isDraining }: Fleet,
  starting: number,
  { max_starting_sandboxes: most }: SandboxConfig,
): void {
  if (isDraining) throw errors.fail('S400', { problem: `host ${self.name} is draining: it takes no new sandboxes` });
  if (starting < most) return;
  const problem = `${most} sandboxes are starting on host ${self.name} (max_starting_sandboxes)`;
  throw errors.fail('S400', { problem, isStarting: true });
}

/**
 * Personalizes a clone, which otherwise has the random state, the time and the hostname of its template.
 *
 * The boot id stays that of the template; the kernel offers no way to change it. See docs/design/qemu.md.
 */
import { randomBytes } from 'node:crypto';

import { type AgentClient, OP, RequestBytes } from '#sandbox/guest';

const SEED_BYTES = 64;
const MACHINE_ID_BYTES = 16;

/** Rejects when the guest refuses or is lost. Sends all requests at once: the agent handles them in this order. */
export async function personalize(agent: AgentClient, hostname: string): Promise<void> {
  const machineId = randomBytes(MACHINE_ID_BYTES).toString('hex');
  await Promise.all([
    request(agent, OP.seed, randomBytes(SEED_BYTES)),
    request(agent, OP.clock, new RequestBytes().u64(BigInt(Date.now()) * 1_000_000n).bytes()),
    request(agent, OP.hostname, new RequestBytes().text(hostname).text(machineId).bytes()),
  ]);
}

async function request(agent: AgentClient, op: number, payload: Buffer): Promise<void> {
  const { answer } = await agent.request(op, payload);
  await answer;
}

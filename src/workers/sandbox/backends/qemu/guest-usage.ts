/**
 * Asks a machine for its own usage: only its kernel knows how full its disk is, which is in its memory.
 *
 * The answer comes through the agent, so a guest can lie. It is for people to read; the limit is the size of the
 * machine.
 */
import { type AgentClient, GuestFiles } from '#sandbox/guest';

const MEMORY = '/proc/meminfo';
const EVENTS = '/proc/vmstat';
/** Counts processes that the agent killed for exceeding the size; the kernel counts its own kills. */
const AGENT_EVENTS = '/dev/shm/.workcell-memory-kills';
const MAX_BYTES = 64 * 1024;

/** Timeout for a busy guest. */
const ASK_MS = 3000;

export interface GuestUsage {
  readonly diskBytes: number;
  readonly oomKills: number;
}

/** Undefined if the guest does not answer. */
export async function askUsage(agent: AgentClient): Promise<GuestUsage | undefined> {
  const texts = new Map<string, string>();
  const signal = AbortSignal.timeout(ASK_MS);
  try {
    const reading = new GuestFiles(agent).readMany([MEMORY, EVENTS, AGENT_EVENTS], { maxBytes: MAX_BYTES, signal });
    for await (const { path, content } of reading) if (Buffer.isBuffer(content)) texts.set(path, content.toString());
  } catch {
    return undefined;
  }
  const kilobytes = (name: string) => numberIn(texts.get(MEMORY), new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm'));
  const kills = (path: string) => numberIn(texts.get(path), /^oom_kill (\d+)$/m);
  return {
    // Files are shared memory, part of which may be swapped out.
    diskBytes: (kilobytes('Shmem') + kilobytes('SwapTotal') - kilobytes('SwapFree')) * 1024,
    oomKills: kills(EVENTS) + kills(AGENT_EVENTS),
  };
}

function numberIn(text = '', pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}

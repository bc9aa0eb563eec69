/**
 * What a machine says of its own use: nobody else knows how full its disk is, which lies in its memory.
 *
 * Its kernel says it, over the agent, so a guest that wants to can lie. It is for people to look at; what holds is the size
 * that the machine was given.
 */
import { type AgentClient, GuestFiles } from '#sandbox/guest';

const MEMORY = '/proc/meminfo';
const EVENTS = '/proc/vmstat';
/** What the agent ended for taking more than promised, beside what the kernel did. */
const AGENT_EVENTS = '/dev/shm/.workcell-memory-kills';
const MAX_BYTES = 64 * 1024;

/** A guest that is busy is not waited for longer. */
const ASK_MS = 3000;

export interface GuestUsage {
  readonly diskBytes: number;
  readonly oomKills: number;
}

/** Undefined when it does not answer. */
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
    // Files are memory that is shared, and some of them were moved to the disk.
    diskBytes: (kilobytes('Shmem') + kilobytes('SwapTotal') - kilobytes('SwapFree')) * 1024,
    oomKills: kills(EVENTS) + kills(AGENT_EVENTS),
  };
}

function numberIn(text = '', pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}

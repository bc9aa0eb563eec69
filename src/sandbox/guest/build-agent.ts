/** Builds the guest agent for this machine's processor. */
import { buildProgram, sourcePath } from './c-program.ts';

/** The code that sets up a sandbox from inside; host-side launchers compile it in too. */
export const MOUNT_SOURCES = ['mounts-and-rights.c', 'mounts-and-rights.h'].map((name) =>
  sourcePath(`agent/${name}`, import.meta.url),
);

/** All sources of the agent; tests build it with other flags. */
export const AGENT_SOURCES = [
  'agent.c',
  'agent-boot.c',
  'agent-command.c',
  'agent-files.c',
  'agent-frames.c',
  'agent-gvisor.c',
  'agent-kill.c',
  'agent-machine.c',
  'agent-mark.c',
  'agent-memory.c',
  'agent-mounts.c',
  'agent-request.c',
  'agent-streams.c',
  'agent-terminal.c',
  'agent-tunnel.c',
  'mounts-and-rights.c',
  'agent-boot.h',
  'agent-loop.h',
  'agent.h',
  'mounts-and-rights.h',
];

export async function buildAgent(cacheDir: string): Promise<string> {
  return buildProgram({
    name: 'agent',
    sources: AGENT_SOURCES.map((name) => sourcePath(`agent/${name}`, import.meta.url)),
    cacheDir,
  });
}

/**
 * Runs one no-op command so that the first real one is fast.
 *
 * The first command is the slowest: pages are read, and an emulator translates new code. It runs an empty shell
 * command, which leaves nothing behind; an image without a shell is not warmed up.
 */
import { GuestError, type AgentClient } from '#sandbox/guest';

export async function warmUp(
  agent: AgentClient,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  const env = [['PATH', '/usr/bin:/bin']] as const;
  try {
    await agent.exec({ argv: ['/bin/sh', '-c', ':'], env, cwd: '/', maxOutputBytes: 0, timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
  }
}

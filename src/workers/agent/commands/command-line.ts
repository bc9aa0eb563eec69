/** A command line as a request of shell. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { inWorkspace } from '../paths.ts';
import type { AgentContext } from '../worker.ts';

/** Most of the last output that shell keeps of a job. */
const RING_BYTES = 16 * 2 ** 20;

/** Longest label that shell accepts. */
const MAX_LABEL = 1000;

const BASH = ['/bin/bash', '/usr/bin/bash'];

export interface CommandLine {
  readonly command: string;
  readonly cwd?: string | undefined;
  /** Whether the caller may write to the job. */
  readonly hasInput: boolean;
}

/**
 * Models write for bash, so it runs the line where the system has it. Both streams are merged in the order they are
 * written, so that a failing test is reported next to its output.
 */
export function toShellRequest(
  { command, cwd, hasInput }: CommandLine,
  context: AgentContext,
): Record<string, unknown> {
  const line = `exec 2>&1; ${command}`;
  const { fence } = context;
  const bash = BASH.find((path) => existsSync(path));
  const words =
    bash === undefined && fence !== 'off' ? { script: line } : { command: bash ?? '/bin/sh', args: ['-c', line] };
  return {
    ...words,
    label: command.slice(0, MAX_LABEL),
    ...(fence !== 'off' && { fence }),
    cwd: join(context.root, cwd === undefined ? '.' : inWorkspace(cwd, context)),
    ring_bytes: RING_BYTES,
    ...(hasInput && { input: true }),
  };
}

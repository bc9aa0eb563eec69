/** A background job in a sandbox: a command without a time limit, whose output is written to the ring as it arrives. */
import type { CallScope } from '#contract';
import { Execution, type ExecutionResult, type OutputRing } from '#host';
import type { BackgroundJob, Jobs, JobWork, TerminalSize } from '#job-functions';
import { GuestError, GuestLost, type GuestProcess } from '#sandbox/guest';
import type { LiveSandbox } from '../live/live-sandbox.ts';
import type { WantedCommand } from './command-fields.ts';
import { decodeStdin, guestCommand, MAX_OUTPUT_BYTES } from './guest-command.ts';
import { notStarted } from './not-started.ts';

const LOST = 'workcell: the sandbox of this job has ended\n';

export interface WantedJob extends WantedCommand {
  readonly hasInput: boolean;
  readonly terminal: TerminalSize | undefined;
  readonly ringBytes: number | undefined;
  readonly timeoutMs: number | undefined;
}

export async function startJob(
  sandbox: LiveSandbox,
  wanted: WantedJob,
  { jobs, scope: { call, signal } }: { jobs: Jobs; scope: CallScope },
): Promise<BackgroundJob> {
  const { argv, workdir, terminal, ringBytes, timeoutMs } = wanted;
  const hasInput = wanted.hasInput || terminal !== undefined;
  const stdin = decodeStdin(wanted.stdin);
  const streams = { hasInput: hasInput || stdin !== undefined, isStreamed: true, isFollowed: true, terminal };
  const command = guestCommand(sandbox, wanted, streams);
  const start = { hasInput, terminal, ringBytes, caller: call.principal };
  const request = { argv, runsOn: 'guest' as const, group: sandbox.facts.id, ...start };
  return sandbox.changing(() =>
    jobs.start(request, async (ring) => {
      const process = await sandbox.agent.start(command, { signal });
      const limits = { stdin, keepsInput: hasInput, maxOutputBytes: MAX_OUTPUT_BYTES, timeoutMs, ring };
      const execution = new Execution(process, limits);
      // Ignored here: the start or the end of the job reports its failure.
      execution.done.catch(() => {});
      await requireStart(process, { argv, workdir });
      // Kills it, because the caller would never get the id.
      if (signal.aborted) await execution.kill();
      signal.throwIfAborted();
      return guestWork(sandbox, { execution, ring, argv, workdir });
    }),
  );
}

/** Throws if the request or the sandbox is the cause; a missing program ends the job as in a shell. */
async function requireStart(process: GuestProcess, asked: { argv: string[]; workdir: string | null }): Promise<void> {
  try {
    await process.started();
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    notStarted(error, asked);
  }
}

interface Work {
  readonly execution: Execution;
  readonly ring: OutputRing;
  readonly argv: string[];
  readonly workdir: string | null;
}

/** A command of the guest as the work of a job, which also ends if the sandbox does. Its output counts as use. */
export function guestWork(sandbox: LiveSandbox, { execution, ring, argv, workdir }: Work): JobWork {
  ring.onChange(() => sandbox.touch());
  const ended = (exitCode: number | null, line: string): ExecutionResult => {
    ring.add('stderr', Buffer.from(line));
    const output = execution.outputSoFar();
    const stderr = Buffer.concat([output.stderr, Buffer.from(line)]);
    return { ...output, stderr, exitCode, signal: null, timedOut: false, durationMs: 0 };
  };
  const done = execution.done.catch((error: unknown) => {
    if (error instanceof GuestLost) return ended(null, LOST);
    if (!(error instanceof GuestError)) throw error;
    const { exitCode, stderr } = notStarted(error, { argv, workdir });
    return ended(exitCode, stderr);
  });
  return {
    process: execution.process,
    outputSoFar: () => execution.outputSoFar(),
    kill: () => execution.kill(),
    done,
  };
}

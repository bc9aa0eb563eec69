/** Shared by the sandbox commands: parsing of a command line, printing of a result and of a failure. */
import { z } from 'zod';

import { CallError, type Bus } from '#contract';
import { UsageError, type CommandInput } from '../command.ts';
import { printOutput, TIMED_OUT } from '../command-output.ts';
import { withEngine } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { printFailure } from '../print.ts';

const CUT = 'after the first MiB; write it to a file in the sandbox and download that';

const Output = z.object({
  stdout: z.string(),
  stderr: z.string(),
  stdout_truncated: z.boolean().optional(),
  stderr_truncated: z.boolean().optional(),
  egress_refused: z.array(z.object({ host: z.string(), reason: z.string() })).optional(),
  streamed: z.boolean().optional(),
});
const ExecReply = Output.extend({ exit_code: z.int().nullish(), killed_by: z.string().optional() });

/**
 * Runs against the engine; a command that timed out is reported with its output, unless the signal caused the failure.
 */
export async function reportingFailures(
  options: CommandInput['options'],
  work: (bus: Bus) => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  try {
    return await withEngine(options, work);
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'S200' || signal?.aborted) throw error;
    return reportFailure(error);
  }
}

/** Prints it in the shape of all failures; returns 124 for a timeout, else `failed`. */
export function reportFailure({ code, message, extra }: CallError, failed: number = EXIT.failed): number {
  if (code === 'S200') printOutput(unprinted(Output.catch({ stdout: '', stderr: '' }).parse(extra)), CUT);
  printFailure({ code, message, help: typeof extra.fix_note === 'string' ? [extra.fix_note] : [] });
  return code === 'S200' ? TIMED_OUT : failed;
}

/** Prints the output of a command and returns its exit code. */
export function showExec(reply: unknown): number {
  const { exit_code, ...output } = ExecReply.parse(reply);
  printOutput(unprinted(output), CUT);
  return exit_code ?? EXIT.failed;
}

/** The rest of a streamed command's output: the last line of its answer names the limit that ended it. */
function unprinted({ streamed, ...output }: z.output<typeof Output> & { killed_by?: string | undefined }) {
  if (streamed !== true) return output;
  const { egress_refused, killed_by: killedBy, stderr } = output;
  const lastLine = stderr.slice(stderr.trimEnd().lastIndexOf('\n') + 1);
  return { stdout: '', stderr: killedBy === undefined ? '' : lastLine, egress_refused };
}

/** The command after the first words, with or without `--` before it. */
export function commandOf({ words, rest }: CommandInput, after: number, name: string): string[] {
  const command = [...words.slice(after), ...rest];
  if (command.length === 0) throw new UsageError(`${name} needs a command, such as: -- python3 -V`);
  return command;
}

/** `500ms`, `30s`, `5m`, `1h`. */
export function readDuration(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const found = /^(\d+)(ms|s|m|h)$/.exec(text);
  if (!found) throw new UsageError(`${option} must be a number with ms, s, m or h, such as 30s (got ${text})`);
  return Number(found[1]) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[found[2] as 'ms' | 's' | 'm' | 'h'];
}

export function readNumber(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new UsageError(`${option} must be a whole number (got ${text})`);
  return Number(text);
}

/** `-e NAME=VALUE`, any number of times. */
export function readPairs(pairs: CommandInput['options'][string]): string[] {
  const list = Array.isArray(pairs) ? pairs : [];
  const bad = list.find((pair) => pair.indexOf('=') <= 0);
  if (bad !== undefined) throw new UsageError(`-e "${bad}" is not NAME=VALUE`);
  return list;
}

/** Prints the output of a command of the shell or of a sandbox, as if the command ran here. */
import { printText } from './print.ts';

/** Exit code of `timeout` from coreutils. */
export const TIMED_OUT = 124;
/** The workers enforce their own time limits; this one only has to be longer. */
export const WAIT_MS = 2_147_483_647;

export interface CommandOutput {
  stdout: string;
  stderr: string;
  stdout_truncated?: boolean | undefined;
  stderr_truncated?: boolean | undefined;
  egress_refused?: { host: string; reason: string }[] | undefined;
}

/** `how` completes the line about truncated output: the limit, and the next step. */
export function printOutput(output: CommandOutput, how: string): void {
  printText(output.stdout);
  printText(output.stderr, process.stderr);
  for (const { host, reason } of output.egress_refused ?? []) {
    printText(`workcell: ${host} was refused: ${reason}\n`, process.stderr);
  }
  const cut = [output.stdout_truncated && 'standard output', output.stderr_truncated && 'standard error'].filter(
    Boolean,
  );
  if (cut.length > 0) process.stderr.write(`workcell: ${cut.join(' and ')} cut ${how}\n`);
}

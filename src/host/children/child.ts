/**
 * The request for a child process.
 *
 * A job is the child and everything that descends from it. When the child ends, the job ends.
 */
import type { ExecutionLimits } from '../process/execution.ts';
import type { TerminalSize } from '../terminal/terminal.ts';

export interface ChildSpec extends ExecutionLimits {
  /** The final argument list; a first word without a slash is looked up in the PATH of `env`. */
  readonly argv: readonly string[];
  /** Absolute; the server's own directory when absent. */
  readonly cwd?: string;
  /** Gives the child a terminal of this size instead of pipes: what it writes there is its standard output. */
  readonly terminal?: TerminalSize | undefined;
  /** The whole environment of the child. */
  readonly env: Record<string, string>;
}

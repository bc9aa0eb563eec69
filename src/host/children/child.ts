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
  /** Gives the child a terminal of this size instead of pipes: its writes there are its standard output. */
  readonly terminal?: TerminalSize | undefined;
  /** The whole environment of the child. */
  readonly env: Record<string, string>;
  /** Starts the child through another program, which reports itself if it cannot start the child's program. */
  readonly launch?: Launch | undefined;
}

/** Replaces the command by that of a launcher, which opens the terminal and enters the directory itself. */
export type Launch = (
  command: Required<Pick<ChildSpec, 'argv' | 'cwd' | 'env'>> & {
    terminalPath: string | undefined;
    /** Whether a cgroup contains every process that the command starts. */
    isContained: boolean;
  },
) => LaunchedCommand;

export interface LaunchedCommand extends Required<Pick<ChildSpec, 'argv' | 'cwd' | 'env'>> {
  /** Open descriptors that the launcher gets as 3 and so on. */
  readonly descriptors: readonly number[];
}

/**
 * The request for a child process.
 *
 * A job is the child and everything that descends from it. When the child ends, the job ends.
 */
import type { ExecutionLimits } from '../process/execution.ts';

export interface ChildSpec extends ExecutionLimits {
  /** The final argument list; a first word without a slash is looked up in the PATH of `env`. */
  readonly argv: readonly string[];
  /** Absolute; the server's own directory when absent. */
  readonly cwd?: string;
  /** The whole environment of the child. */
  readonly env: Record<string, string>;
}

/** Exit codes of all commands. */
export const EXIT = {
  ok: 0,
  /** The call or the command itself failed. */
  failed: 1,
  /** Bad usage or bad configuration: nothing was started. */
  usage: 2,
  /** The engine could not be reached. */
  unreachable: 3,
} as const;

/** Sends SIGKILL to a process, or with a negative number to its group. A process that is gone already is not an error. */
export function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // EPERM: it changed to another user. The caller, which waits for its end, notices.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code!)) throw error;
  }
}

/** SIGKILL for a process, or with a negative number for its group. That it is gone already is as good. */
export function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // EPERM: it has become another user's. Whoever waits for its end finds out.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code!)) throw error;
  }
}

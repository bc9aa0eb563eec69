/** Sends a signal to a process, or with a negative number to its group. A process that is gone already is not an error. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // EPERM: it changed to another user. A caller that waits for its end detects that.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code!)) throw error;
  }
}

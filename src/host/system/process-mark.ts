/** A name for a process that no later process gets, although pids are reused. */
import { readFileSync, readlinkSync } from 'node:fs';

/** `<pid>-<start time>`; the time is 0 where the system does not report it. */
export const OWN_MARK = `${process.pid}-${startOf(process.pid) ?? 0}`;

/** Identifies the pid namespace: a mark of another one, such as a container's, matches no process here. */
export const PID_SPACE = pidSpace();

export function isAlive(mark: string): boolean {
  const [pid = 0, start = 0] = mark.split('-').map(Number);
  const actual = startOf(pid);
  if (actual !== undefined) return actual === start;
  if (process.platform === 'linux') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** In ticks since boot. */
function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name is in parentheses and may contain anything; the time is the 20th word after it.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return undefined;
  }
}

function pidSpace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0];
  } catch {
    return '0';
  }
}

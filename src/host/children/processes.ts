/** Lists the processes of this system and finds those that belong to a job. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ProcessInfo {
  pid: number;
  ppid: number;
  pgid: number;
  sid: number;
  /** First group of the pattern, if it matched. */
  mark: string | undefined;
}

/** The /proc file that shows marks, and the pattern: its first group is the mark. */
export interface MarkPattern {
  file: 'status' | 'environ';
  pattern: RegExp;
}

/** How many processes are read before yielding to the event loop. */
const BATCH = 64;

/** Living processes only; zombies do not count. */
export async function listProcesses(marks?: MarkPattern): Promise<ProcessInfo[]> {
  return process.platform === 'linux' ? await listFromProc(marks) : await listFromPs();
}

/** Identifies the processes of a job. */
export interface JobTraits {
  /** The pid of the first process, which is also its session and group id. */
  leader: number;
  mark: string | undefined;
}

/** Processes in a session or group of the jobs, processes with one of their marks, and all descendants of these. */
export function membersOf(jobs: ReadonlySet<JobTraits>, processes: readonly ProcessInfo[]): number[] {
  const leaders = new Set([...jobs].map(({ leader }) => leader));
  const marks = new Set([...jobs].flatMap(({ mark }) => mark ?? []));
  const members = new Set<number>();
  for (const { pid, pgid, sid, mark } of processes) {
    if (leaders.has(sid) || leaders.has(pgid) || (mark !== undefined && marks.has(mark))) members.add(pid);
  }
  for (let size = -1; size !== members.size;) {
    size = members.size;
    for (const { pid, ppid } of processes) if (members.has(ppid)) members.add(pid);
  }
  return [...members];
}

/** The newest pid on this system; 0 if the system does not report it. */
export function newestPid(): number {
  if (process.platform !== 'linux') return 0;
  return Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
}

async function listFromProc(marks: MarkPattern | undefined): Promise<ProcessInfo[]> {
  const processes: ProcessInfo[] = [];
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const [index, name] of names.entries()) {
    if (index % BATCH === BATCH - 1) await turn();
    const status = readOf(name, 'status');
    if (status === undefined) continue;
    const field = (key: string) => Number(new RegExp(`^${key}:\t(\\d+)`, 'm').exec(status)?.[1]);
    // The state is that of the first thread; others may live on without it.
    if (/^State:\t[ZX]/m.test(status) && !(field('Threads') > 1)) continue;
    const markedText = marks?.file === 'environ' ? readOf(name, 'environ') : status;
    processes.push({
      pid: Number(name),
      ppid: field('PPid'),
      pgid: field('NSpgid'),
      sid: field('NSsid'),
      mark: marks?.pattern.exec(markedText ?? '')?.[1],
    });
  }
  return processes;
}

/** Undefined for a process that has ended, or whose file this user may not read. */
function readOf(pid: string, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code!)) return undefined;
    throw error;
  }
}

async function listFromPs(): Promise<ProcessInfo[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, ppid, pgid] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+[^Z]/.exec(line) ?? [];
    if (pid === undefined) return [];
    return [{ pid: Number(pid), ppid: Number(ppid), pgid: Number(pgid), sid: Number(pgid), mark: undefined }];
  });
}

/** The processes of this system as a list, and the one question asked of it: which of them belong to a job. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ProcessInfo {
  pid: number;
  ppid: number;
  pgid: number;
  sid: number;
  /** What the pattern found on it. */
  mark: string | undefined;
}

/** Where marks are to be seen, and their pattern: its first group is the mark. */
export interface MarkPattern {
  file: 'status' | 'environ';
  pattern: RegExp;
}

/** How many are read before others get their turn. */
const BATCH = 64;

/** Those that live; what ended and waits to be collected does not count. */
export async function listProcesses(marks?: MarkPattern): Promise<ProcessInfo[]> {
  return process.platform === 'linux' ? await listFromProc(marks) : await listFromPs();
}

/** By what the processes of a job are told from others. */
export interface JobTraits {
  /** The pid of the first process, which is the number of its session and group. */
  leader: number;
  mark: string | undefined;
}

/** Those in a session or group of the jobs, those with a mark of theirs, and all that descend from them. */
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

/** The process that was started last, whoever started it; 0 where the system does not tell. */
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

/** Undefined for a process that has ended or whose file is not ours to read. */
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

/** Finds the process that listens on a local port, on Linux: by the inode of its socket. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';

/** Such as `node (process 4711)`; undefined when none is visible, for example because it belongs to another user. */
export function portOwner(port: number): string | undefined {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => listenersAt(table, port)));
  if (sockets.size === 0) return undefined;
  const pid = numbersIn('/proc').find((candidate) => holdsAny(candidate, sockets));
  return pid && `${nameOf(pid)} (process ${pid})`;
}

/** A process chooses its name: control characters are not shown. */
function nameOf(pid: string): string {
  const name = readOr('?', () => readFileSync(`/proc/${pid}/comm`, 'utf8'));
  return name.trim().replaceAll(/[^\x20-\x7e]/g, '?');
}

function listenersAt(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readOr('', () => readFileSync(`/proc/net/${table}`, 'latin1'))
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  return rows
    .filter(([, local, , state]) => local?.endsWith(wanted) && state === LISTENING)
    .map((row) => `socket:[${row[9]}]`);
}

function holdsAny(pid: string, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  return numbersIn(folder).some((fd) => sockets.has(readOr('', () => readlinkSync(`${folder}/${fd}`))));
}

function numbersIn(folder: string): string[] {
  return readOr([], () => readdirSync(folder)).filter((name) => /^\d+$/.test(name));
}

/** Processes come and go during the scan, and those of other users are not readable. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

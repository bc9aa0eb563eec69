/**
 * Sockets of this host that have a path. The network namespace does not separate them, and a read-only mount does not
 * stop a connection, so those that are not covered by an empty directory are hidden one by one.
 */
import { lstatSync, readFileSync } from 'node:fs';

/** Paths of the sockets that programs of this host listen on now. */
export function hostSockets(isCovered: (path: string) => boolean): string[] {
  const paths = readList()
    .split('\n')
    .map((line) => line.slice(line.indexOf(' /') + 1))
    .filter((path) => path.startsWith('/') && !isCovered(path));
  return [...new Set(paths)].filter(isSocket);
}

function readList(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return '';
  }
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}

/**
 * Cgroups named after the server that made them, so that the next server finds those of dead servers, also when it runs
 * elsewhere in the hierarchy.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { isAlive, OWN_MARK, PID_SPACE } from '../../system/process-mark.ts';

/** Most groups read in one sweep of a hierarchy. */
const MAX_SCANNED = 20_000;

/** The path of a group of this process. */
export function ownedGroup(parent: string, prefix: string, id: string): string {
  return join(parent, `${prefix}${OWN_MARK}.${PID_SPACE}.${id}`);
}

/**
 * Groups of dead servers in the whole hierarchy that contains `home`. Leaves out groups above `home`: a server that was
 * a job of a dead server still runs in that server's group.
 */
export function staleCgroups(home: string, prefix: string): string[] {
  let top = home;
  while (existsSync(join(dirname(top), 'cgroup.procs'))) top = dirname(top);
  const found: string[] = [];
  const waiting = [top];
  for (let scanned = 0; scanned < MAX_SCANNED; scanned++) {
    const path = waiting.pop();
    if (path === undefined) break;
    for (const name of groupNamesIn(path)) {
      const group = join(path, name);
      const isAbove = home === group || home.startsWith(`${group}/`);
      if (!isAbove && isStale(name, prefix)) found.push(group);
      else waiting.push(group);
    }
  }
  return found;
}

/** A group of another pid namespace, such as a container's, has a pid that is not one of this system. */
function isStale(name: string, prefix: string): boolean {
  if (!name.startsWith(prefix)) return false;
  const [owner = '', space] = name.slice(prefix.length).split('.');
  return space === PID_SPACE && !isAlive(owner);
}

/** Groups come and go during the sweep. */
function groupNamesIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

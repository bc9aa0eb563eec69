/**
 * Temporary names of files and directories that are being written, and the sweep of those that a killed process left.
 *
 * A name contains the pid of its writer. The first write of a process in a directory removes the temporary files of
 * dead processes there; only names of exactly this form are touched.
 */
import { hash, randomUUID } from 'node:crypto';
import { readdir, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { hostname } from 'node:os';
import { promisify } from 'node:util';

import type { ByteString } from '../text/byte-string.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { removeMade } from './jail-remove.ts';

const FORM = /^\.workcell-([0-9a-f]{8})-(\d+)-[0-9a-f]{32}$/;

/** A temporary file unchanged for this long is abandoned, even if its process cannot be checked. */
const LIVE_MS = 3_600_000;

/** Identifies the pid namespace: this boot of this machine, and this container. Pids of another cannot be checked. */
const PID_SPACE = hash(
  'sha256',
  [
    hostname(),
    said(() => readFileSync('/proc/sys/kernel/random/boot_id')),
    said(() => readlinkSync('/proc/self/ns/pid')),
  ].join(),
).slice(0, 8);

const PREFIX = `.workcell-${PID_SPACE}-${process.pid}-`;

/** Directories already swept. The set is cleared when it is full; a directory is then swept again. */
const MAX_SWEPT = 10_000;
const swept = new Set<string>();

const list = promisify(readdir);

/** Returns a temporary name that other programs cannot guess. */
export function tempName(): ByteString {
  return `${PREFIX}${randomUUID().replaceAll('-', '')}` as ByteString;
}

/** Removes temporary files of dead processes beside the entry, the first time this process writes there. */
export function sweepOnce(entry: JailEntry): Promise<void> | undefined {
  const id = entry.directoryId;
  return swept.has(id) ? undefined : sweep(entry, id);
}

async function sweep(entry: JailEntry, id: string): Promise<void> {
  try {
    const names = entry.isInSmallDirectory
      ? entry.act((at) => readdirSync(at, 'latin1'), '.' as ByteString)
      : await entry.act((at) => list(at, 'latin1'), '.' as ByteString);
    for (const name of names) {
      if (!isTempName(name)) continue;
      const temp = entry.beside(name as ByteString);
      if (temp.stat && isLeft(name, temp.stat)) await removeMade(temp);
    }
    if (swept.size >= MAX_SWEPT) swept.clear();
    swept.add(id);
  } catch {
    // If the directory is unusable, the write itself reports why.
  }
}

export function isTempName(name: string): boolean {
  return FORM.test(name);
}

/** True if the process that wrote the temporary file is dead, or the file is old. */
export function isLeft(name: string, stat: Stats): boolean {
  if (!stat.isFile() && !stat.isDirectory()) return false;
  const [, space, pid] = FORM.exec(name)!;
  return stat.mtimeMs < Date.now() - LIVE_MS || (space === PID_SPACE && !isAlive(Number(pid)));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Reads a value from /proc; empty where there is none. */
function said(ask: () => string | Buffer): string {
  try {
    return String(ask());
  } catch {
    return '';
  }
}

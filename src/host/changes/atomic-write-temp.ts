/**
 * Names of what is being made, files and trees, and the end of those that a killed process left behind.
 *
 * The name tells who writes it. The first write of a process in a directory removes what nobody writes any
 * more; only names of exactly this form are touched.
 */
import { hash, randomUUID } from 'node:crypto';
import { readdir, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { hostname } from 'node:os';
import { promisify } from 'node:util';

import type { ByteString } from '../text/byte-string.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { removeMade } from './jail-remove.ts';

const FORM = /^\.workcell-([0-9a-f]{8})-(\d+)-[0-9a-f]{32}$/;

/** What did not change for this long is not being made, whoever began it. */
const LIVE_MS = 3_600_000;

/** Where process ids mean the same as here: this machine since it started, and this container. */
const PID_SPACE = hash(
  'sha256',
  [
    hostname(),
    said(() => readFileSync('/proc/sys/kernel/random/boot_id')),
    said(() => readlinkSync('/proc/self/ns/pid')),
  ].join(),
).slice(0, 8);

const PREFIX = `.workcell-${PID_SPACE}-${process.pid}-`;

/** Directories that were looked at. Forgotten all at once when there are too many, which costs another look. */
const MAX_SWEPT = 10_000;
const swept = new Set<string>();

const list = promisify(readdir);

/** A name that nobody can guess. */
export function tempName(): ByteString {
  return `${PREFIX}${randomUUID().replaceAll('-', '')}` as ByteString;
}

/** Removes what dead processes left in the directory of the entry, the first time this process writes there. */
export function sweepOnce(entry: JailEntry): Promise<void> | undefined {
  const id = entry.directoryId;
  return swept.has(id) ? undefined : sweep(entry, id);
}

async function sweep(entry: JailEntry, id: string): Promise<void> {
  try {
    const names = await entry.act((at) => list(at, 'latin1'), '.' as ByteString);
    for (const name of names) {
      if (!isTempName(name)) continue;
      const temp = entry.beside(name as ByteString);
      if (temp.stat && isLeft(name, temp.stat)) await removeMade(temp);
    }
    if (swept.size >= MAX_SWEPT) swept.clear();
    swept.add(id);
  } catch {
    // What is wrong with the directory is met by the write itself.
  }
}

export function isTempName(name: string): boolean {
  return FORM.test(name);
}

/** Whether nobody is writing it any more. */
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

/** What the system says of itself, if it does. */
function said(ask: () => string | Buffer): string {
  try {
    return String(ask());
  } catch {
    return '';
  }
}

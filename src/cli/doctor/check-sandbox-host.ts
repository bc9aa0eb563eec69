/** Checks the host for sandboxes: limits, user namespaces, programs, disk space for images. */
import { execFile } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { missingFor, openLimiter, worthHaving, type Limiter } from '#workers/sandbox';
import { judged, type Finding } from './finding.ts';

const run = promisify(execFile);

const UNSHARE_MS = 5000;

const LIMITS: Record<Limiter['kind'], string> = {
  cgroup2: 'control groups (v2) hold memory, processes and processor time of a sandbox',
  cgroup1: 'control groups (v1) hold memory, processes and processor time of a sandbox',
  watchdog:
    'no control groups: a watchdog ends a sandbox that holds more than its memory_mb; nothing limits its processor time',
};

export function checkLimits(): Finding {
  const { kind } = openLimiter();
  const fix =
    'run on Linux where control groups are writable: systemd-run --user --scope -p Delegate=yes workcell start';
  return judged(kind !== 'watchdog', { check: 'limits', detail: LIMITS[kind], fix });
}

/** Kernel settings that forbid user namespaces, and the values that do. */
const SWITCHES = [
  { name: 'kernel.unprivileged_userns_clone', forbidding: '0', allowing: '1' },
  { name: 'kernel.apparmor_restrict_unprivileged_userns', forbidding: '1', allowing: '0' },
  { name: 'user.max_user_namespaces', forbidding: '0', allowing: '15000' },
];

export async function checkUserNamespaces(): Promise<Finding> {
  const check = 'user namespaces';
  if (process.platform !== 'linux') {
    return { check, status: 'off', detail: 'only Linux has them; virtual machines need none', fix: '' };
  }
  try {
    await run('unshare', ['--user', 'true'], { timeout: UNSHARE_MS });
    return { check, status: 'ok', detail: 'allowed', fix: '' };
  } catch (error) {
    const found = SWITCHES.find(({ name, forbidding }) => setting(name) === forbidding);
    const { stderr } = error as { stderr?: string };
    return {
      check,
      status: 'warn',
      detail: found ? `forbidden by ${found.name}` : stderr?.trim() || (error as Error).message,
      fix: found ? `sysctl -w ${found.name}=${found.allowing}` : 'allow them in the container that this runs in',
    };
  }
}

function setting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function checkPackages(): Finding {
  const check = 'packages';
  const lacking = worthHaving().flatMap((backend) =>
    missingFor(backend).map((need) => ({ ...need, backend: backend.name })),
  );
  if (lacking.length === 0)
    return { check, status: 'ok', detail: 'every program that a sandbox calls is here', fix: '' };
  const wishes = new Map(lacking.map((need) => [need.package, `${need.package} (${need.for})`]));
  const backends = [...new Set(lacking.map(({ backend }) => backend))];
  return {
    check,
    status: 'off',
    detail: `missing: ${[...wishes.values()].join(', ')}`,
    fix: `workcell setup ${backends.join(' ')}`,
  };
}

/** Building an image needs about this much for a while. */
const LITTLE_BYTES = 2e9;

export function checkCache(folder: string): Finding {
  const { bavail, bsize } = statfsSync(existingPart(folder));
  const freeBytes = bavail * bsize;
  const detail = `${folder} holds ${gigabytes(sizeOf(folder))}; ${gigabytes(freeBytes)} are free`;
  const fix = 'workcell sandbox prune, or set cache_dir in the iii-sandbox block';
  return judged(freeBytes >= LITTLE_BYTES, { check: 'image cache', detail, fix });
}

function existingPart(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false }) ? path : existingPart(dirname(path));
}

/**
 * Disk usage: images share files, and those of virtual machines are sparse. Folders that this user may not read, or
 * that vanish meanwhile, count as zero.
 */
function sizeOf(folder: string): number {
  const seen = new Set<number>();
  let bytes = 0;
  const visit = (path: string) => {
    const stat = undefinedIfFails(() => lstatSync(path));
    if (!stat || seen.has(stat.ino)) return;
    seen.add(stat.ino);
    bytes += stat.blocks * 512;
    if (stat.isDirectory()) for (const name of undefinedIfFails(() => readdirSync(path)) ?? []) visit(join(path, name));
  };
  visit(folder);
  return bytes;
}

function undefinedIfFails<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (['EACCES', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;

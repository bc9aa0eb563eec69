/**
 * The user of a command: the USER of an image, looked up in its own passwd and group files.
 *
 * The image is not trusted. Its files are opened through a jail, so a symlink in it cannot read a file of the host.
 */
import { readFileSync } from 'node:fs';

import { HostError, openJail } from '#host';
import type { ImageReference } from './backends/backend.ts';
import { errors } from './errors.ts';

export interface GuestUser {
  uid: number;
  gid: number;
  home: string;
}

/** Largest accepted passwd or group file. */
const MAX_BYTES = 1 << 20;

const ROOT: GuestUser = { uid: 0, gid: 0, home: '/root' };

/** `name`, `uid`, `name:group` or `uid:gid`; root when the image has no USER. */
export async function readUser({ directory, user, name: image }: ImageReference): Promise<GuestUser> {
  if (user === undefined || user === '') return ROOT;

  const rootDir = await directory();
  const [wanted = '', group] = user.split(':');
  const account = rowsOf(rootDir, 'etc/passwd').find(([name, , uid]) => name === wanted || uid === wanted);
  const uid = numberOf(account?.[2] ?? wanted);
  const groupRow = rowsOf(rootDir, 'etc/group').find(([name, , gid]) => name === group || gid === group);
  const gid = group === undefined ? numberOf(account?.[3] ?? '0') : numberOf(groupRow?.[2] ?? group);
  if (uid === undefined || gid === undefined) {
    throw errors.fail('S300', { problem: `image '${image}' runs as user '${user}', which is not in its /etc/passwd` });
  }
  return { uid, gid, home: account?.[5] || '/' };
}

function rowsOf(rootDir: string, path: string): string[][] {
  try {
    using file = openJail(rootDir).open(path);
    if (file.size > MAX_BYTES) return [];
    return readFileSync(file.fd, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  } catch (error) {
    if (error instanceof HostError) return [];
    throw error;
  }
}

function numberOf(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

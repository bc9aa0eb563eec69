/** Permission bits and owner of a file or directory. */
import type { Pin } from '../jail/pin.ts';

export interface Permissions {
  mode: number;
  /** Unchanged if undefined. */
  uid?: number;
  gid?: number;
}

/** Bits for owner, group and others, and setuid, setgid, sticky. */
export const PERMISSION_BITS = 0o7777;

/** Sets the owner last: a process that is no longer the owner may not set the bits. */
export function applyPermissions(pin: Pin, { mode, uid = -1, gid = -1 }: Permissions): void {
  pin.chmod(mode);
  if (uid >= 0 || gid >= 0) pin.chown(uid, gid);
}

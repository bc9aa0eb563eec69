/** Who may do what with an object of the file system. */
import type { Pin } from '../jail/pin.ts';

export interface Permissions {
  mode: number;
  /** Left as they are when left out. */
  uid?: number;
  gid?: number;
}

/** The bits for owner, group and others, and the special ones. */
export const PERMISSION_BITS = 0o7777;

/** The owner last: whoever is no longer the owner may not set the bits. */
export function applyPermissions(pin: Pin, { mode, uid = -1, gid = -1 }: Permissions): void {
  pin.chmod(mode);
  if (uid >= 0 || gid >= 0) pin.chown(uid, gid);
}

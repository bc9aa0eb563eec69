/**
 * The guest system's errno. The numbers are those of Linux, whatever the host is.
 *
 * It has the shape of Node's file system errors, so `HostError.fromErrno` reads it.
 */

const NAMES: Record<number, string> = {
  1: 'EPERM',
  2: 'ENOENT',
  4: 'EINTR',
  5: 'EIO',
  6: 'ENXIO',
  7: 'E2BIG',
  8: 'ENOEXEC',
  11: 'EAGAIN',
  12: 'ENOMEM',
  13: 'EACCES',
  16: 'EBUSY',
  17: 'EEXIST',
  18: 'EXDEV',
  20: 'ENOTDIR',
  21: 'EISDIR',
  22: 'EINVAL',
  23: 'ENFILE',
  24: 'EMFILE',
  25: 'ENOTTY',
  26: 'ETXTBSY',
  27: 'EFBIG',
  28: 'ENOSPC',
  30: 'EROFS',
  31: 'EMLINK',
  36: 'ENAMETOOLONG',
  38: 'ENOSYS',
  39: 'ENOTEMPTY',
  40: 'ELOOP',
  74: 'EBADMSG',
  95: 'EOPNOTSUPP',
  98: 'EADDRINUSE',
  104: 'ECONNRESET',
  122: 'EDQUOT',
  125: 'ECANCELED',
};

const ABOUT = ['path', 'program', 'workdir', 'parent', 'user', 'source', 'terminal'] as const;

/** Subject of the errno. */
export type About = (typeof ABOUT)[number];

/** The guest can no longer be reached. */
export class GuestLost extends Error {
  override readonly name: string = 'GuestLost';
}

/** The agent speaks an older version of the protocol than a request needs. */
export class AgentTooOld extends Error {
  override readonly name = 'AgentTooOld';

  constructor(what: string, { version, needed }: { version: number; needed: number }) {
    super(`the agent in this sandbox speaks version ${version} of the guest protocol; ${what} needs version ${needed}`);
  }
}

export class GuestError extends Error {
  override readonly name = 'GuestError';
  readonly errno: number;
  readonly code: string;
  readonly about: About;

  constructor(errno: number, about: number) {
    const code = NAMES[errno] ?? `E${errno}`;
    super(`the guest answered ${code}`);
    this.errno = -errno;
    this.code = code;
    this.about = ABOUT[about] ?? 'path';
  }
}

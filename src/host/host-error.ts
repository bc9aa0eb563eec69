/**
 * The reason why the operating system or the jail refused.
 *
 * `path` is the caller's. An errno error names paths of the host, so it is kept as the cause and its text never becomes
 * part of a message.
 */

const WORDS = {
  absolute: 'must be a relative path',
  relative: 'must be an absolute path',
  root: 'is the root; name something below it',
  missing: 'does not exist',
  protected: 'is protected',
  hidden: 'does not exist or is protected',
  escape: 'leaves the root; name a path inside it',
  dangling: 'goes through a dangling symlink',
  exists: 'already exists',
  denied: 'is not permitted by the operating system',
  'not-a-file': 'is not a regular file',
  'not-a-directory': 'is not a directory',
  'not-a-parent': 'has a file as a parent directory',
  'not-empty': 'is a directory with entries; remove those first, or send `recursive` to remove all',
  'invalid-name': 'is not a name that the file system accepts',
  attributes: 'has an access list or attributes that cannot be kept',
  unsaved:
    'cannot be changed together with others, because state_dir cannot be written; set it to a writable directory with space',
  io: 'failed in a system call',
} as const;

export type HostReason = keyof typeof WORDS;

const REASON_OF_ERRNO: Record<string, HostReason> = {
  ENOENT: 'missing',
  ELOOP: 'dangling',
  EEXIST: 'exists',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  EISDIR: 'not-a-file',
  ENOTDIR: 'not-a-parent',
  ENOTEMPTY: 'not-empty',
  ENAMETOOLONG: 'invalid-name',
};

export class HostError extends Error {
  override readonly name = 'HostError';
  readonly reason: HostReason;
  readonly path: string;

  constructor(reason: HostReason, path: string, cause?: NodeJS.ErrnoException) {
    const errno = cause?.code === undefined ? '' : ` (${cause.code})`;
    super(`${path || '.'} ${WORDS[reason]}${errno}`, { cause });
    this.reason = reason;
    this.path = path;
  }

  /** Translates a failed system call on the caller's path. Rethrows anything else: it is a bug. */
  static fromErrno(error: unknown, path: string): HostError {
    if (error instanceof HostError) return error;
    if (!isErrno(error)) throw error;
    return new HostError(REASON_OF_ERRNO[error.code!] ?? 'io', path, error);
  }
}

export function isErrno(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'errno' in error && 'code' in error;
}

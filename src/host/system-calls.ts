/**
 * System calls that Node does not have, by the optional package koffi.
 *
 * What is opened relative to a held directory is found a third faster than through /proc and just as safely, so this
 * changes the speed of a search and nothing else: where the package is missing, or a call fails, who asked does it Node's
 * way, which also tells what is wrong.
 */
import { constants } from 'node:fs';
import { createRequire } from 'node:module';

export interface SystemCalls {
  /** A descriptor for reading that Node does not know of, so `close` has to close it; -1 when it failed. */
  openFileAt(dir: number, name: string): number;
  close(descriptor: number): void;
  /** What tells one state of a file from another, links not followed; undefined when it failed. */
  identify(path: string): FileIdentity | undefined;
}

/** As Node's own stat has it. */
export interface FileIdentity {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** Whatever is opened is not waited for, not made a terminal, and not reached through a link. */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

// The same numbers on every architecture that Node supports.
const O_CLOEXEC = 0o2000000;
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_BASIC = 0x7ff;

/** Of `struct statx`, which is laid out alike everywhere. */
const STATX = { bytes: 256, ino: 32, size: 40, ctime: 96, mtime: 112 };

let known: SystemCalls | null | undefined;

/** Undefined where there are none. Each thread has its own. */
export function systemCalls(): SystemCalls | undefined {
  known ??= load();
  return known ?? undefined;
}

/** The package is left out where it cannot be installed; whatever keeps it from loading is no reason to fail. */
function load(): SystemCalls | null {
  if (process.platform !== 'linux') return null;
  try {
    return bind(createRequire(import.meta.url)('koffi') as typeof import('koffi'));
  } catch {
    return null;
  }
}

function bind(koffi: typeof import('koffi')): SystemCalls {
  const libc = koffi.load(null);
  const openat = libc.func('int openat(int, const char *, int)');
  const close = libc.func('int close(int)');
  const statx = libc.func('int statx(int, const char *, int, unsigned int, void *)');
  const found = Buffer.alloc(STATX.bytes);
  const timeMs = (at: number) => Number(found.readBigInt64LE(at)) * 1000 + found.readUInt32LE(at + 8) / 1_000_000;
  return {
    openFileAt: (dir, name) => openat(dir, name, READ_FLAGS | O_CLOEXEC) as number,
    close,
    identify(path) {
      if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC, found) !== 0) return undefined;
      return {
        ino: Number(found.readBigUInt64LE(STATX.ino)),
        size: Number(found.readBigUInt64LE(STATX.size)),
        mtimeMs: timeMs(STATX.mtime),
        ctimeMs: timeMs(STATX.ctime),
      };
    },
  };
}

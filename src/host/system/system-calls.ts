/**
 * System calls that Node lacks: open a path without any symlink on it, and open, list and read relative to a directory
 * descriptor.
 *
 * They need the optional package `koffi`. Only the attribute calls report an errno. After any other failure the caller
 * falls back to `node:fs`, so that answers and errors are the same with and without the package.
 */
import { closeSync, fstatSync, realpathSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { bindAttributeCalls, type AttributeCalls } from '../changes/attribute-calls.ts';
import type { ByteString } from '../text/byte-string.ts';
import { kindOfMode, type EntryStat, type FileStat } from '../walk/entry-kind.ts';
import { loadKoffi, type Koffi } from './koffi.ts';

export interface SystemCalls {
  /** Opens an absolute path; fails if any component is a symlink, the last one included. */
  openLinkless: (path: string, flags: number) => number | undefined;
  /** Opens a name, or a path, relative to an open directory; the flags decide which symlinks are followed. */
  openAt: (directoryFd: number, name: ByteString, flags: number) => number | undefined;
  /** Reads the next directory entries as the kernel writes them: returns the number of bytes, 0 at the end. */
  readEntries: (directoryFd: number, into: Uint8Array) => number | undefined;
  /** Reads from the file's position: returns the number of bytes. */
  read: (fd: number, into: Uint8Array) => number | undefined;
  /** Stats a name in an open directory, without following it. */
  statAt: (directoryFd: number, name: ByteString) => EntryStat | undefined;
  /** Stats a descriptor. */
  fstat: (fd: number) => FileStat | undefined;
  /** Stats a path, without following its last component. */
  lstat: (path: string) => FileStat | undefined;
  /** Makes a hard link at a path to a name in an open directory, which is not followed; false if that failed. */
  linkAt: (directoryFd: number, name: ByteString, to: string) => boolean;
  /** Whether the path is a regular file, and not a symlink to one. */
  isRegularFile: (path: string) => boolean;
  /** These throw an errno error: there is no fallback for them. */
  attributes: AttributeCalls;
}

// From the kernel's headers, for both architectures.
const SYS_GETDENTS64: Partial<Record<NodeJS.Architecture, number>> = { x64: 217, arm64: 61 };
const SYS_OPENAT2 = 437;
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_EMPTY_PATH = 0x1000;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_NO_SYMLINKS = 0x04;
const STATX_TYPE = 1;
/** Kind, permissions, links, owner, group, mtime, inode and size. */
const STATX_STAT = STATX_TYPE | 0x2 | 0x4 | 0x8 | 0x10 | 0x40 | 0x100 | 0x200;
/** Offsets in 32-bit words of the fields that are read; the mode is half a word. */
const STATX = { words: 64, nlink: 4, uid: 5, gid: 6, mode: 7, ino: 8, size: 10, mtime: 28 } as const;
const WORD = 2 ** 32;
// Not in node:fs. Without it every child process would inherit the descriptor.
const O_CLOEXEC = 0o2000000;
const O_PATH = 0o10000000;

let calls: SystemCalls | undefined;
let isLoaded = false;

/** The calls, or undefined where they are not available; loads the package the first time. */
export function systemCalls(): SystemCalls | undefined {
  if (!isLoaded) calls = load();
  isLoaded = true;
  return calls;
}

function load(): SystemCalls | undefined {
  const koffi = loadKoffi();
  if (!koffi) return undefined;
  try {
    const loaded = bind(koffi);
    return isObeyed(loaded) ? loaded : undefined;
  } catch {
    // The C library lacks one of them.
    return undefined;
  }
}

function bind(koffi: Koffi): SystemCalls {
  const library = koffi.load(null);
  const openat2 = library.func('long syscall(long number, int fd, const char *path, void *how, size_t size)');
  const getdents64 = library.func('long syscall(long number, int fd, void *into, size_t size)');
  const read = library.func('long read(int fd, void *into, size_t size)');
  const openat = library.func('int openat(int fd, const char *path, int flags)');
  const linkat = library.func('int linkat(int fd, const char *path, int toFd, const char *to, int flags)');
  const statx = library.func('int statx(int fd, const char *path, int flags, unsigned int mask, void *status)');

  // struct open_how: flags, mode and resolve, 64 bits each, of which the lower halves are used.
  const how = new Uint32Array(6);
  how[4] = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const status = new Uint32Array(STATX.words);
  const statWith = (fd: number, path: string | Buffer, flags: number): FileStat | undefined => {
    if (statx(fd, path, flags, STATX_STAT, status) < 0) return undefined;
    const mode = modeIn(status);
    const [size, ino] = [wideIn(status, STATX.size), wideIn(status, STATX.ino)];
    const [nlink, uid, gid] = [status[STATX.nlink]!, status[STATX.uid]!, status[STATX.gid]!];
    return { kind: kindOfMode(mode), mode, size, mtimeMs: mtimeIn(status), ino, nlink, uid, gid };
  };

  return {
    openLinkless(path, flags) {
      how[0] = flags | O_CLOEXEC;
      return notFailed(openat2(SYS_OPENAT2, AT_FDCWD, path, how, how.byteLength));
    },
    openAt: (directoryFd, name, flags) => notFailed(openat(directoryFd, bytesOf(name), flags | O_CLOEXEC)),
    readEntries: (directoryFd, into) =>
      notFailed(getdents64(SYS_GETDENTS64[process.arch], directoryFd, into, into.byteLength)),
    read: (fd, into) => notFailed(read(fd, into, into.byteLength)),
    statAt: (directoryFd, name) => statWith(directoryFd, bytesOf(name), AT_SYMLINK_NOFOLLOW),
    fstat: (fd) => statWith(fd, '', AT_EMPTY_PATH),
    lstat: (path) => statWith(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW),
    linkAt: (directoryFd, name, to) => linkat(directoryFd, bytesOf(name), AT_FDCWD, to, 0) === 0,
    isRegularFile(path) {
      if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, status) < 0) return false;
      return kindOfMode(modeIn(status)) === 'file';
    },
    attributes: bindAttributeCalls(
      (prototype) => library.func(prototype),
      () => koffi.errno(),
    ),
  };
}

function modeIn(status: Uint32Array): number {
  return status[STATX.mode]! & 0xffff;
}

/** A field of 64 bits. */
function wideIn(status: Uint32Array, at: number): number {
  return status[at]! + status[at + 1]! * WORD;
}

/** The mtime as Node reports it. The seconds may be before 1970, so the upper half is signed. */
function mtimeIn(status: Uint32Array): number {
  const seconds = status[STATX.mtime]! + (status[STATX.mtime + 1]! | 0) * WORD;
  return seconds * 1000 + status[STATX.mtime + 2]! / 1_000_000;
}

function notFailed(result: number): number | undefined {
  return result < 0 ? undefined : result;
}

/**
 * Checks that openat2 refuses symlinks. Old kernels and seccomp filters lack the call, emulations may ignore the flag,
 * and tools that fake a root by translating system calls (proot) may not know it: then it opens another file.
 */
function isObeyed({ openLinkless }: SystemCalls): boolean {
  const own = realpathSync(fileURLToPath(import.meta.url));
  const [file, link] = [own, '/proc/self'].map((path) => openLinkless(path, O_PATH));
  try {
    if (file === undefined || link !== undefined) return false;
    const [opened, named] = [fstatSync(file), statSync(own)];
    return opened.ino === named.ino && opened.dev === named.dev;
  } finally {
    for (const fd of [file, link]) if (fd !== undefined) closeSync(fd);
  }
}

const ASCII = /^[\x00-\x7f]*$/;

/** Text goes to the kernel as UTF-8, which equals the bytes only for ASCII. */
function bytesOf(name: ByteString): string | Buffer {
  return ASCII.test(name) ? name : Buffer.from(`${name}\0`, 'latin1');
}

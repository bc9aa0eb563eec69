/** Calls of the C library for terminals: those that open one, and those that Node lacks. */
import { loadKoffi } from '../system/koffi.ts';

export interface TerminalCalls {
  /** Opens a new terminal: the descriptor of its master, and the path of its other side. */
  open(): { master: number; path: string };
  /** A second descriptor of the same terminal: opening its path in /proc would create a new one. */
  duplicate(fd: number): number;
  resize(fd: number, size: { columns: number; rows: number }): void;
}

// From the kernel's headers, for both architectures.
const O_RDWR = 0o2;
const O_NOCTTY = 0o400;
const O_CLOEXEC = 0o2000000;
const F_DUPFD_CLOEXEC = 1030;
const TIOCSWINSZ = 0x5414;
const MAX_PATH = 128;

let calls: TerminalCalls | undefined;
let isLoaded = false;

/** Undefined where they are not available; loads the package the first time. */
export function terminalCalls(): TerminalCalls | undefined {
  if (!isLoaded) calls = bind();
  isLoaded = true;
  return calls;
}

function bind(): TerminalCalls | undefined {
  const koffi = loadKoffi();
  if (!koffi) return undefined;
  const library = koffi.load(null);
  const openpt = library.func('int posix_openpt(int flags)');
  const unlockpt = library.func('int unlockpt(int fd)');
  const ptsname = library.func('int ptsname_r(int fd, void *into, size_t size)');
  const fcntl = library.func('int fcntl(int fd, int command, int value)');
  const ioctl = library.func('int ioctl(int fd, unsigned long request, void *value)');
  const done = (result: number, what: string) => {
    if (result < 0) throw new Error(`${what} failed with errno ${koffi.errno()}`);
    return result;
  };
  return {
    open() {
      const master = done(openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), 'posix_openpt');
      const path = Buffer.alloc(MAX_PATH);
      done(unlockpt(master), 'unlockpt');
      done(ptsname(master, path, path.length), 'ptsname_r');
      return { master, path: path.toString('latin1', 0, path.indexOf(0)) };
    },
    duplicate: (fd) => done(fcntl(fd, F_DUPFD_CLOEXEC, 3), 'fcntl'),
    resize(fd, { columns, rows }) {
      done(ioctl(fd, TIOCSWINSZ, new Uint16Array([rows, columns, 0, 0])), 'TIOCSWINSZ');
    },
  };
}

/**
 * System calls for extended attributes, which include access lists (ACLs): Node has none.
 *
 * A file is given by a descriptor, by an `O_PATH` descriptor, or by a path whose last component is not followed if it is
 * a symlink.
 */
import { getSystemErrorName } from 'node:util';

export type Attributed = number | string | Buffer | Found;

/** An `O_PATH` descriptor: the kernel accepts it only through `/proc/self/fd`. */
export interface Found {
  readonly foundBy: number;
}

export interface AttributeCalls {
  list: (of: Attributed) => string[];
  get: (of: Attributed, name: string) => Buffer;
  set: (of: Attributed, name: string, value: Buffer) => void;
  remove: (of: Attributed, name: string) => void;
}

/** The kernel's limit of a value, and of all names together. */
const MAX_BYTES = 65_536;

const ZERO = Buffer.alloc(1);

type Call = (...values: unknown[]) => number;

export function bindAttributeCalls(bind: (prototype: string) => Call, errno: () => number): AttributeCalls {
  const calling = (name: string, result: string, rest: string) => {
    const byDescriptor = bind(`${result} f${name}(int fd, ${rest})`);
    const byPath = bind(`${result} l${name}(const char *path, ${rest})`);
    const byLink = bind(`${result} ${name}(const char *path, ${rest})`);
    const callOn = (of: Attributed, values: unknown[]) => {
      if (typeof of === 'number') return byDescriptor(of, ...values);
      if (typeof of === 'string') return byPath(of, ...values);
      if (Buffer.isBuffer(of)) return byPath(Buffer.concat([of, ZERO]), ...values);
      return byLink(Buffer.from(`/proc/self/fd/${of.foundBy}\0`), ...values);
    };
    return (of: Attributed, ...values: unknown[]) => {
      const got = callOn(of, values);
      if (got < 0) throw errnoError(name, errno());
      return got;
    };
  };
  const list = calling('listxattr', 'long', 'void *names, size_t size');
  const get = calling('getxattr', 'long', 'const char *name, void *value, size_t size');
  const set = calling('setxattr', 'int', 'const char *name, void *value, size_t size, int flags');
  const remove = calling('removexattr', 'int', 'const char *name');
  const into = Buffer.alloc(MAX_BYTES);

  return {
    list(of) {
      // Most files have no attributes, and asking for the size is the cheapest call.
      if (list(of, null, 0) === 0) return [];
      return into
        .toString('utf8', 0, list(of, into, into.length))
        .split('\0')
        .slice(0, -1);
    },
    get: (of, name) => Buffer.from(into.subarray(0, get(of, name, into, into.length))),
    set: (of, name, value) => void set(of, name, value, value.length, 0),
    remove: (of, name) => void remove(of, name),
  };
}

function errnoError(syscall: string, errno: number): NodeJS.ErrnoException {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${syscall} failed with ${code}`), { errno: -errno, code, syscall });
}

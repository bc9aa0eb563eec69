/**
 * Extended attributes as the kernel keeps them, access lists among them: Node has no calls for these.
 *
 * Of a file by its descriptor, by one that only finds it (`O_PATH`), or by its path, a link at the end not followed.
 */
import { getSystemErrorName } from 'node:util';

export type Attributed = number | Buffer | Found;

/** A descriptor that only finds a file: the kernel wants to be led from it to the file. */
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
      // Most files have none, and asking how many bytes there are is cheapest.
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

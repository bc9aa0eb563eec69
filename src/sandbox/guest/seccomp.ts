/**
 * The seccomp filter of a sandbox, and of a fenced command of the host.
 *
 * A denylist: programs keep working, and rarely used calls that have been exploited most often are out of reach.
 * Numbers differ by processor, so each call has both.
 */

type Arch = 'x64' | 'arm64';

/** [x64, arm64]; undefined where the processor has no such call. */
type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

/** Fail with EPERM. */
const REFUSED: Record<string, Numbers> = {
  // Mounts and namespaces: they would open the sandbox.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  unshare: [272, 97],
  setns: [308, 268],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  // Kernel keyrings are not separated by namespaces.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // AIO contexts are counted for the whole machine: one sandbox could take them all.
  io_setup: [206, 0],
  // Large interfaces that commands hardly need.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  kcmp: [312, 272],
  // Calls that change the machine itself.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  vhangup: [153, 58],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  uselib: [134, undefined],
  modify_ldt: [154, undefined],
};

/**
 * Fail with ENOSYS where no cgroup counts memory: their memory is in no table that is visible from outside. Programs
 * with a fallback use files.
 */
const UNCOUNTED: Record<string, Numbers> = {
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  semget: [64, 190],
  msgget: [68, 186],
};

const CLONE: Numbers = [56, 220];
/** Its flags are in memory, where the filter cannot read them, so it fails with ENOSYS: libraries fall back to clone. */
const CLONE3: Numbers = [435, 435];
const SOCKET: Numbers = [41, 198];
const SOCKETPAIR: Numbers = [53, 199];

/** New mount, cgroup, uts, ipc, user, pid and network namespaces. */
const NAMESPACE_FLAGS = 0x7e02_0000;

/** unix, inet, inet6, netlink. Others cross the network namespace (vsock) or are rarely used and large. */
const SOCKET_FAMILIES = [1, 2, 10, 16];

const AUDIT_ARCH: Record<Arch, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
const X32_BIT = 0x4000_0000;
const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 };

const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const refuseWith = (errno: number) => 0x0005_0000 | errno;

/** Offsets of the number, the architecture and the first argument in seccomp_data. */
const AT = { number: 0, arch: 4, argument0: 16 };

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number];

/** The BPF program for a processor. */
export function seccompFilter(arch: NodeJS.Architecture, { isCounted = true } = {}): Buffer {
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`no filter of system calls is known for ${arch}`);
  const numberOf = (numbers: Numbers) => numbers[arch === 'x64' ? 0 : 1];
  const program: Instruction[] = [
    [LOAD, 0, 0, AT.arch],
    [IF_EQUAL, 1, 0, AUDIT_ARCH[arch]],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, AT.number],
    ...(arch === 'x64' ? when([IF_AT_LEAST, 0, 1, X32_BIT], ERRNO.ENOSYS) : []),
    ...when([IF_EQUAL, 0, 1, numberOf(CLONE3)!], ERRNO.ENOSYS),
  ];
  for (const numbers of Object.values(REFUSED)) {
    const number = numberOf(numbers);
    if (number !== undefined) program.push(...when([IF_EQUAL, 0, 1, number], ERRNO.EPERM));
  }
  for (const numbers of isCounted ? [] : Object.values(UNCOUNTED)) {
    program.push(...when([IF_EQUAL, 0, 1, numberOf(numbers)!], ERRNO.ENOSYS));
  }
  program.push(
    [IF_EQUAL, 0, 4, numberOf(CLONE)!],
    [LOAD, 0, 0, AT.argument0],
    [IF_ANY_BIT, 0, 1, NAMESPACE_FLAGS],
    [RETURN, 0, 0, refuseWith(ERRNO.EPERM)],
    [RETURN, 0, 0, ALLOW],
    [IF_EQUAL, 1, 0, numberOf(SOCKET)!],
    [IF_EQUAL, 0, SOCKET_FAMILIES.length + 2, numberOf(SOCKETPAIR)!],
    [LOAD, 0, 0, AT.argument0],
    ...SOCKET_FAMILIES.map((family, i): Instruction => [IF_EQUAL, SOCKET_FAMILIES.length - i, 0, family]),
    [RETURN, 0, 0, refuseWith(ERRNO.EAFNOSUPPORT)],
    [RETURN, 0, 0, ALLOW],
  );
  return encode(program);
}

/** Refuses calls for which the condition holds. */
function when(condition: Instruction, errno: number): Instruction[] {
  return [condition, [RETURN, 0, 0, refuseWith(errno)]];
}

function encode(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [i, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, i * 8);
    bytes[i * 8 + 2] = ifTrue;
    bytes[i * 8 + 3] = ifFalse;
    bytes.writeUInt32LE(value, i * 8 + 4);
  }
  return bytes;
}

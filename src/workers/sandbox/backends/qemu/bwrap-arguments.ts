/**
 * The jail of QEMU itself: a guest that breaks out of its machine finds nothing there.
 *
 * bwrap gives it namespaces of its own, no capability, no network, no other process, and of the file system only its
 * libraries and the files of the machine, under fixed names. Inside, QEMU runs as `nobody`, also for a daemon
 * of root.
 */
import { existsSync, lstatSync, readlinkSync } from 'node:fs';

/** A file or directory of the host, and its name in the jail. */
export interface Bind {
  readonly from: string;
  readonly at: string;
  readonly access: 'read' | 'write' | 'device';
}

export interface JailedProgram {
  /** The program that delays QEMU until it may start. */
  readonly gate: string;
  /** The real path of QEMU, also in the jail, because QEMU searches its firmware beside itself. */
  readonly program: string;
  readonly args: readonly string[];
  readonly binds: readonly Bind[];
  /** A library to preload. */
  readonly preload?: string | undefined;
}

/** Descriptors: bwrap reports the pid of its child on one, and the gate in the jail waits on the other. */
export const INFO_FD = 6;
export const GATE_FD = 7;

const GATE = '/start-gate';

/** Where QEMU stores writes over a read-only disk: in memory, which is freed with the jail. */
const WRITTEN_DIR = '/var/tmp';

const NOBODY = '65534';

const BIND = { read: '--ro-bind', write: '--bind', device: '--dev-bind' } as const;

/** Libraries and firmware. These contain no private data. */
const SYSTEM_BINDS = [
  ...['/usr/lib', '/usr/lib64', '/usr/share/qemu', '/usr/share/seabios', '/etc/ld.so.cache'],
  // Paths for a QEMU that was built here.
  ...['/usr/local/lib', '/usr/local/share/qemu'],
];

/** On many systems symlinks into /usr. */
const LIBRARY_LINKS = ['/lib', '/lib64'];

/** The arguments of bwrap. */
export function jailArguments({ gate, program, args, binds, preload }: JailedProgram): string[] {
  const all: readonly Bind[] = [
    ...SYSTEM_BINDS.filter((path) => existsSync(path)).map(readable),
    readable(program),
    { from: gate, at: GATE, access: 'read' },
    { from: '/dev/null', at: '/dev/null', access: 'device' },
    ...binds,
  ];
  return [
    ...['--unshare-all', '--unshare-user', '--uid', NOBODY, '--gid', NOBODY, '--hostname', 'machine'],
    ...['--die-with-parent', '--as-pid-1', '--new-session', '--cap-drop', 'ALL', '--clearenv'],
    ...['--info-fd', String(INFO_FD)],
    ...all.flatMap(({ from, at, access }) => [BIND[access], from, at]),
    ...LIBRARY_LINKS.filter((path) => existsSync(path)).flatMap(likeOnHost),
    ...['--tmpfs', WRITTEN_DIR],
    ...(preload === undefined ? [] : ['--setenv', 'LD_PRELOAD', preload]),
    ...['--', GATE, String(GATE_FD), program, ...args],
  ];
}

function readable(path: string): Bind {
  return { from: path, at: path, access: 'read' };
}

function likeOnHost(path: string): string[] {
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

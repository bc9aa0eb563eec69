/**
 * The OCI runtime configuration of one machine for runsc.
 *
 * Paths are those of the launcher's jail. The first process reserves the memory beyond the sandbox's size: gVisor's
 * kernel has no limit of its own, but a file that grows in steps. See docs/design/gvisor.md.
 */
import { hostnameOf } from '../launcher/launcher.ts';

/** Processes and threads in the guest. Half the limit of other backends: each is up to sixteen tasks of the host. */
export const MAX_PROCESSES = 512;

/** The same capabilities as the launcher of namespaces keeps: enough to install packages and to switch users. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'NET_BIND_SERVICE'].map(
  (name) => `CAP_${name}`,
);

const SHM_MB = 64;

/** Step in which gVisor's kernel enlarges the file of the guest's memory. */
const STEP_MB = 1024;

/** Unrequested size of that file: chunks are allocated whole and used in part. */
const SLACK_MB = 64;

interface Size {
  memoryMb: number;
  diskMb: number;
}

/** The largest file that gVisor may make: the guest's memory, or a file on its disk. */
export function maxFileMb({ memoryMb, diskMb }: Size): number {
  return Math.ceil(Math.max(memoryMb + SLACK_MB, diskMb) / STEP_MB) * STEP_MB;
}

export function runtimeConfig({ id, ...size }: Size & { id: string }): object {
  const reservedMb = maxFileMb(size) - size.memoryMb - SLACK_MB;
  return {
    ociVersion: '1.0.2',
    hostname: hostnameOf(id),
    root: { path: '/root', readonly: false },
    process: {
      args: ['/tmp/.agent', '--io', `${reservedMb}`],
      cwd: '/',
      env: [],
      user: { uid: 0, gid: 0 },
      terminal: false,
      noNewPrivileges: true,
      capabilities: { bounding: CAPABILITIES, effective: CAPABILITIES, permitted: CAPABILITIES },
      rlimits: [
        { type: 'RLIMIT_NPROC', soft: MAX_PROCESSES, hard: MAX_PROCESSES },
        { type: 'RLIMIT_NOFILE', soft: 65_536, hard: 65_536 },
        { type: 'RLIMIT_CORE', soft: 0, hard: 0 },
        // The agent counts down from here to mark the processes of a command.
        { type: 'RLIMIT_MEMLOCK', soft: 65_536, hard: 2 ** 40 },
      ],
    },
    mounts: [
      { destination: '/dev/shm', type: 'tmpfs', source: 'tmpfs', options: [`size=${SHM_MB}m`, 'mode=1777', 'nosuid'] },
    ],
    linux: { namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
  };
}

/**
 * What runsc is told about one machine: an OCI runtime configuration.
 *
 * Paths in it are those of the launcher's jail. The first process holds back the memory that the sandbox was not promised:
 * gVisor's kernel has no limit of its own, but a file that grows in steps. See docs/design/gvisor.md.
 */
import { hostnameOf } from '../launcher/launcher.ts';

/** Processes and threads in the guest. Half of what other backends allow: each is up to sixteen tasks of the host. */
export const MAX_PROCESSES = 512;

/** As the launcher of namespaces keeps them: enough to install packages and to become another user. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'NET_BIND_SERVICE'].map(
  (name) => `CAP_${name}`,
);

const SHM_MB = 64;

/** By so much gVisor's kernel enlarges the file that the memory of the guest lies in. */
const STEP_MB = 1024;

/** What the file holds though no program asked for it: parts are given out whole and used in part. */
const SLACK_MB = 64;

interface Size {
  memoryMb: number;
  diskMb: number;
}

/** The largest file that gVisor may make: the one of the guest's memory, or one on its disk. */
export function maxFileMb({ memoryMb, diskMb }: Size): number {
  return Math.ceil(Math.max(memoryMb + SLACK_MB, diskMb) / STEP_MB) * STEP_MB;
}

export function runtimeConfig({ id, ...size }: Size & { id: string }): object {
  const heldMb = maxFileMb(size) - size.memoryMb - SLACK_MB;
  return {
    ociVersion: '1.0.2',
    hostname: hostnameOf(id),
    root: { path: '/root', readonly: false },
    process: {
      args: ['/tmp/.agent', '--io', `${heldMb}`],
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
        // From here the agent counts down to mark what came from a command.
        { type: 'RLIMIT_MEMLOCK', soft: 65_536, hard: 2 ** 40 },
      ],
    },
    mounts: [
      { destination: '/dev/shm', type: 'tmpfs', source: 'tmpfs', options: [`size=${SHM_MB}m`, 'mode=1777', 'nosuid'] },
    ],
    linux: { namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
  };
}

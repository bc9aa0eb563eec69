/** bwrap and runc, one sandbox for each command, with the same walls as far as they have them; and no walls at all. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Whether a program is there, after an attempt to install its package when that is allowed. */
export function installed(program, debianPackage) {
  const isThere = () => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  if (isThere()) return true;
  if (process.geteuid() !== 0 || process.env.WORKCELL_NO_APT) return false;
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', debianPackage], { stdio: 'ignore' });
  return isThere();
}

export async function bare([program, ...args]) {
  const child = spawn(program, args, { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

export const bwrap = {
  isThere: installed('bwrap', 'bubblewrap'),
  run: (root, argv) =>
    bare([
      ...['bwrap', '--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--as-pid-1'],
      ...[
        '--cap-drop',
        'ALL',
        '--clearenv',
        '--ro-bind',
        root,
        '/',
        '--tmpfs',
        '/tmp',
        '--dev',
        '/dev',
        '--proc',
        '/proc',
      ],
      ...['--', ...argv],
    ]),
};

let count = 0;

export const runc = {
  isThere: process.geteuid() === 0 && installed('runc', 'runc'),
  run: (bundle) =>
    bare(['runc', '--root', join(bundle, 'state'), 'run', '--bundle', bundle, `bench-${process.pid}-${count++}`]),
};

/** The smallest description of a container that runs `true`. */
export function makeRuncBundle(root) {
  const bundle = join(dirname(root), 'bundle');
  mkdirSync(bundle, { recursive: true });
  const namespaces = ['pid', 'network', 'ipc', 'uts', 'mount', 'cgroup'].map((type) => ({ type }));
  const config = {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: ['/bin/true'],
      env: ['PATH=/bin'],
      cwd: '/',
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    hostname: 'bench',
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev'] },
    ],
    linux: { namespaces },
  };
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(config));
  return bundle;
}

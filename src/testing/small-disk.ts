/** A disk with little room, for tests of a full disk. Only root can mount one. */
import { spawnSync } from 'node:child_process';

/** Root in a container may not be allowed to mount. */
export function mayMount(): boolean {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return false;
  return spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
}

/** Mounts one over an empty directory until it is disposed. */
export function smallDisk(path: string, sizeBytes: number): Disposable {
  mount(['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', path]);
  return { [Symbol.dispose]: () => void spawnSync('umount', ['-l', path]) };
}

export function mount(words: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

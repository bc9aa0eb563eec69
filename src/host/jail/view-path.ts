/**
 * Paths of a view, which is a mount that this process cannot reach by name.
 *
 * The kernel reports the names of the workspace for files of the view, so a name proves nothing: the mount of every
 * descriptor is checked. A symlink that is absolute, or that leaves the root, ends in another mount.
 */
import { readFileSync } from 'node:fs';

import type { View } from '../layers/layer.ts';
import { DESCRIPTORS } from './own-descriptors.ts';

/** The path by which this process opens an absolute path; `absolute` and the root are both text or both bytes. */
export function throughView<Path extends string>({ fd, root }: Pick<View, 'fd' | 'root'>, absolute: Path): Path {
  if (absolute === root) return `${DESCRIPTORS}/${fd}/.` as Path;
  return absolute.startsWith(`${root}/`) ? (`${DESCRIPTORS}/${fd}${absolute.slice(root.length)}` as Path) : absolute;
}

/** Whether the object of a descriptor belongs to the mount of the view. */
export function isInView(fd: number, { mountId }: Pick<View, 'mountId'>): boolean {
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`${DESCRIPTORS}info/${fd}`, 'latin1'))?.[1] === mountId;
}

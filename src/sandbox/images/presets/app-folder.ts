/**
 * /home/app, where the documentation of sandboxes puts programs. Every preset has it, including those from a registry.
 *
 * World-writable: an image of a registry may run its commands as a user other than root.
 */
import { EPOCH_SECS, type TreeWriter } from '#sandbox/archives';

const FACTS = { mode: 0o777, uid: 0, gid: 0, mtimeSecs: EPOCH_SECS };

export function addAppFolder(tree: TreeWriter): void {
  const resolved = tree.resolve('home/app');
  if (!tree.stat(resolved)) tree.directory(resolved, FACTS);
}

/**
 * /home/app, where the documentation of sandboxes puts programs. Every preset has it, also one that a registry gave.
 *
 * Anybody in the sandbox may write there: an image of a registry may run its commands as another user than root.
 */
import { EPOCH_SECS, type TreeWriter } from '#sandbox/archives';

const FACTS = { mode: 0o777, uid: 0, gid: 0, mtimeSecs: EPOCH_SECS };

export function addAppFolder(tree: TreeWriter): void {
  const place = tree.place('home/app');
  if (!tree.stat(place)) tree.directory(place, FACTS);
}

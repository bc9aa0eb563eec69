/** Hides names below a layer: links of one device, the kind that overlayfs takes for a removed name. */
import { execFileSync } from 'node:child_process';
import { linkSync, renameSync } from 'node:fs';

import { isCode } from './layer-store.ts';

/** `whiteout` is the device that the launcher made with the layer. */
export function hideName(whiteout: string, at: string): void {
  try {
    linkSync(whiteout, at);
  } catch (error) {
    if (!isCode(error, 'EMLINK')) throw error;
    // The inode has as many names as the file system allows (ext4: 65,000): another replaces it. Node cannot make one.
    const fresh = `${whiteout}.new`;
    execFileSync('mknod', [fresh, 'c', '0', '0'], { stdio: 'pipe' });
    renameSync(fresh, whiteout);
    linkSync(whiteout, at);
  }
}

/** Distinguishes a file that the change made from one that overlayfs copied up from the workspace. */
import { HostError } from '../../host-error.ts';
import { systemCalls } from '../../system/system-calls.ts';
import type { LayerJails } from '../diff/touched-paths.ts';

/** Attributes of overlayfs as root, and in a user namespace. */
const MARKS = ['trusted.overlay.origin', 'user.overlay.origin'];

export interface CopiedUp {
  /** True if overlayfs marked the file; false where this process cannot read attributes. */
  readonly isCopiedUp: boolean;
  /** Inode of the copied file, as long as that exists. */
  readonly inodeInView: bigint | undefined;
}

export function copiedUp(path: string, { upper, view }: Pick<LayerJails, 'upper' | 'view'>): CopiedUp {
  try {
    using entry = upper.entry(path);
    const names = entry.act((at) => systemCalls()?.attributes.list(at) ?? []);
    using seen = view.entry(path);
    return {
      isCopiedUp: names.some((name) => MARKS.includes(name)),
      inodeInView: seen.stat && BigInt(seen.stat.ino),
    };
  } catch (error) {
    if (error instanceof HostError) return { isCopiedUp: false, inodeInView: undefined };
    throw error;
  }
}

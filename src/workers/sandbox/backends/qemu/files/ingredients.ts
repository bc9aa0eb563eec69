/** The files that a machine of an image needs, in the cache, and one digest of them all. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { buildAgent } from '#sandbox/guest';
import type { ImageReference } from '../../backend.ts';
import { prepareInitramfs } from './initramfs.ts';
import { prepareKernel } from './kernel.ts';
import type { Waiter } from './make-once.ts';
import { prepareRootImage, rootImageMark } from './root-image.ts';

export interface Ingredients {
  /** Paths. */
  readonly kernel: string;
  readonly initramfs: string;
  readonly root: string;
  /** Identifies one build of the root: two builds of one image have the same files in different blocks. */
  readonly rootMark: string;
  /** Changes when any of the files does. */
  readonly digest: string;
}

export async function prepareIngredients(
  image: ImageReference,
  { cacheDir, ...waiter }: Waiter & { cacheDir: string },
): Promise<Ingredients> {
  const kernel = await prepareKernel(cacheDir, waiter);
  const agent = await buildAgent(join(cacheDir, 'programs'));
  const initramfs = await prepareInitramfs({ agent, kernel, cacheDir }, waiter);
  const root = await prepareRootImage(image, { cacheDir, ...waiter });
  const rootMark = rootImageMark(root);
  // The initramfs is named after its content.
  const facts = [hash('sha256', readFileSync(kernel.image)), basename(initramfs), rootMark];
  return { kernel: kernel.image, initramfs, root, rootMark, digest: hash('sha256', facts.join('\n')) };
}

/** Whether the prepared files still exist unchanged: pruning may have removed or replaced them. */
export function isStillThere({ kernel, initramfs, root, rootMark }: Ingredients): boolean {
  return [kernel, initramfs, root].every((path) => existsSync(path)) && rootImageMark(root) === rootMark;
}

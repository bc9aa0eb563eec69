/** Everything that a machine of an image is made of, as files in the cache, and one digest that names them all. */
import { createHash } from 'node:crypto';
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
  /** Which making of the root it is: two of one image hold the same files in other places. */
  readonly rootMark: string;
  /** Another one when anything in them is another. */
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
  // The initramfs is named after what it holds.
  const facts = [sha256(readFileSync(kernel.image)), basename(initramfs), rootMark];
  return { kernel: kernel.image, initramfs, root, rootMark, digest: sha256(facts.join('\n')) };
}

/** Whether the files are the ones that were prepared: whoever prunes the cache may have removed them, or made others. */
export function isStillThere({ kernel, initramfs, root, rootMark }: Ingredients): boolean {
  return [kernel, initramfs, root].every((path) => existsSync(path)) && rootImageMark(root) === rootMark;
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

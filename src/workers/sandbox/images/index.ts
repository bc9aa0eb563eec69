/** The images of sandboxes: a cache of read-only root directories. */
export { defaultCacheDir } from './cache-dir.ts';
export { ImageError } from './image-error.ts';
export { percentOf, STEP_COUNT, stepOf, type ImageProgress } from './image-progress.ts';
export { Images, type PreparedImage } from './images.ts';
export type { Outlook } from './image-maker.ts';
export type { ImageRow } from './list-images.ts';
export { openImages } from './open-images.ts';
export type { PruneReport } from './prune-images.ts';

/** The images of sandboxes: a cache of read-only root directories. */
export { withBuildLock } from './build-lock.ts';
export { defaultCacheDir } from './cache-dir.ts';
export { PRESET_NAMES } from './catalogue.ts';
export { ifExists } from './if-exists.ts';
export { ImageError } from './image-error.ts';
export { ImageStore } from './image-store.ts';
export { percentOf, PHASES, progressText, STEP_COUNT, stepOf, type ImageProgress } from './image-progress.ts';
export { Images, type PreparedImage } from './images.ts';
export type { Outlook } from './image-maker.ts';
export type { ImageRow } from './list-images.ts';
export { openImages } from './open-images.ts';
export { BuildError } from './presets/build-error.ts';
export { runProgram } from './presets/program.ts';
export type { PruneReport } from './prune-images.ts';
export { SharedWork, type Watcher } from './shared-work.ts';
export { UNFINISHED, writeSharedFile } from './write-shared-file.ts';

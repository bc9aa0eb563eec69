/** Unpacks untrusted archives into a directory. */
export { ArchiveError } from './archive-error.ts';
export { ARCHIVE_LIMITS, type ArchiveLimits } from './archive-limits.ts';
export { decompress } from './decompress.ts';
export { ArchiveBudget, applyLayer } from './apply-layer.ts';
export { readTar } from './tar-reader.ts';
export { EPOCH_SECS, TreeWriter, type EntryFacts } from './tree-writer.ts';
export { isFreeForTree, unpackTree, type UnpackedTree } from './unpack-tree.ts';

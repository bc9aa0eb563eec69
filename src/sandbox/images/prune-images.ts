/**
 * Prunes the cache: removes images unused for a while, the longest unused first, and unneeded downloads.
 *
 * An image in use is never removed, nor one used a moment ago: its sandbox may be starting.
 */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { ImageStore } from './image-store.ts';

/** How long a sandbox may take between finding an image and marking it as in use. */
const STARTING_MS = 60_000;

export interface PruneOptions {
  /** Images unused for longer are removed. */
  readonly unusedForMs: number;
  /** After that, removes more until all images together fit into this size. */
  readonly maxBytes?: number | undefined;
}

export interface PrunedImage {
  readonly digest: string;
  readonly refs: readonly string[];
  readonly bytes: number;
}

export interface PruneReport {
  readonly removed: readonly PrunedImage[];
  /** Digests of images that were kept because they are in use. */
  readonly inUse: readonly string[];
  readonly freedBytes: number;
}

interface Candidate extends PrunedImage {
  readonly usedAtMs: number;
}

export function pruneImages(store: ImageStore, { unusedForMs, maxBytes = Infinity }: PruneOptions): PruneReport {
  store.removeUnfinished();
  const nowMs = Date.now();
  const images = candidates(store);
  const isBusy = ({ digest, usedAtMs }: Candidate) => store.isInUse(digest) || nowMs - usedAtMs < STARTING_MS;

  let keptBytes = images.reduce((sum, { bytes }) => sum + bytes, 0);
  const removed: PrunedImage[] = [];
  const inUse: string[] = [];
  for (const image of images) {
    const isUnwanted = nowMs - image.usedAtMs > unusedForMs || keptBytes > maxBytes;
    if (!isUnwanted) continue;
    if (isBusy(image)) {
      inUse.push(image.digest);
      continue;
    }
    if (!store.removeTree(image.digest)) continue;
    keptBytes -= image.bytes;
    removed.push({ digest: image.digest, refs: image.refs, bytes: image.bytes });
  }

  for (const { ref, digest } of store.refs()) {
    if (!store.hasTree(digest)) store.removeRef(ref);
  }
  const blobBytes = removeBlobs(store);
  return { removed, inUse, freedBytes: removed.reduce((sum, { bytes }) => sum + bytes, blobBytes) };
}

/** The longest unused first. Skips images that another process removed meanwhile. */
function candidates(store: ImageStore): Candidate[] {
  const refs = store.refs();
  return store
    .trees()
    .flatMap((digest) => {
      const usedAtMs = store.usedAtMs(digest);
      if (usedAtMs === undefined) return [];
      const names = refs.filter((record) => record.digest === digest).map(({ ref }) => ref);
      return [{ digest, refs: names, bytes: store.treeRecord(digest)?.bytes ?? 0, usedAtMs }];
    })
    .toSorted((a, b) => a.usedAtMs - b.usedAtMs);
}

/** Removes downloads that no image uses, unless a process is downloading them right now. */
function removeBlobs(store: ImageStore): number {
  const needed = new Set(store.refs().flatMap(({ blobs }) => blobs.map((digest) => digest.replace(':', '-'))));
  let freed = 0;
  for (const name of store.blobs()) {
    const path = join(store.blobsDir, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || needed.has(name) || Date.now() - found.mtimeMs < STARTING_MS) continue;
    rmSync(path, { force: true });
    freed += found.size;
  }
  return freed;
}

/**
 * Unpacks the layers of an image, one over the other, into a directory; each must have the digest that the image's
 * config states.
 */
import { createHash } from 'node:crypto';

import { ArchiveBudget, applyLayer, ArchiveError, decompress, TreeWriter, type ArchiveLimits } from '#sandbox/archives';
import type { TreeRecord } from './image-store.ts';

export interface LayerSource {
  /** The digest of the layer without compression. */
  readonly diffId: string;
  /** Opens the layer as downloaded, compressed or not. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface UnpackOptions {
  readonly limits: ArchiveLimits;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
  /** Adds files to the tree after its layers. */
  readonly addTo?: ((tree: TreeWriter) => void) | undefined;
}

export async function unpackImage(
  layers: readonly LayerSource[],
  rootDir: string,
  { limits, signal, onBytes, addTo }: UnpackOptions,
): Promise<TreeRecord> {
  const tree = new TreeWriter(rootDir);
  const budget = new ArchiveBudget(limits);
  for (const { diffId, open } of layers) {
    const hash = createHash('sha256');
    await applyLayer(
      tree,
      hashing(decompress(open()), hash, () => onBytes(budget.bytes)),
      budget,
      { signal },
    );
    const actual = `sha256:${hash.digest('hex')}`;
    if (actual !== diffId) throw new ArchiveError(`layer ${diffId} unpacks to ${actual}`);
  }
  addTo?.(tree);
  tree.finish();
  const { bytes, entries, skipped } = budget;
  return { bytes, entries, skipped };
}

async function* hashing(
  source: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
  onPiece: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    hash.update(piece);
    onPiece();
    yield piece;
  }
}

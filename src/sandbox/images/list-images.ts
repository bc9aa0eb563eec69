/** Images by name and images on the disk, as one table. */
import type { CatalogueRow } from './catalogue.ts';
import type { ImageStore, RefRecord } from './image-store.ts';
import { parseReference, spellReference } from './registry/reference.ts';

export interface ImageRow {
  /** Null for a cached image that is in no catalogue. */
  readonly name: string | null;
  readonly ref: string;
  /** Cache entry; null when not cached. */
  readonly cached: {
    readonly digest: string;
    readonly source: RefRecord['source'];
    readonly bytes: number;
    readonly lastUsed: Date;
    readonly isInUse: boolean;
  } | null;
}

export function listImages(store: ImageStore, catalogue: readonly CatalogueRow[]): ImageRow[] {
  const named = catalogue.map(({ name, ref }) => ({ name, ref: canonical(ref) }));
  const known = new Set(named.map(({ ref }) => ref));
  const others = store
    .refs()
    .filter(({ ref }) => !known.has(ref))
    .map(({ ref }) => ({ name: null, ref }));
  return [...named, ...others].map((row) => ({ ...row, cached: cachedPart(store, row.ref) }));
}

function cachedPart(store: ImageStore, ref: string): ImageRow['cached'] {
  const image = store.find(ref);
  if (!image) return null;
  const { digest, source } = image;
  const usedAtMs = store.usedAtMs(digest);
  if (usedAtMs === undefined) return null;
  return {
    digest,
    source,
    bytes: store.treeRecord(digest)?.bytes ?? 0,
    lastUsed: new Date(usedAtMs),
    isInUse: store.isInUse(digest),
  };
}

/** A reference in the configuration may be malformed; pulling it reports that, listing it must not fail. */
function canonical(ref: string): string {
  try {
    return spellReference(parseReference(ref));
  } catch {
    return ref;
  }
}

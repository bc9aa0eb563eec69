/** Pulls an image from a registry: the documents that describe it, then its layers, all into the blob cache. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ArchiveError, type ArchiveLimits } from '#sandbox/archives';
import { withBuildLock } from '../build-lock.ts';
import type { ImageStore } from '../image-store.ts';
import {
  digestOf,
  DOCUMENT_TYPES,
  forThisMachine,
  MAX_DOCUMENT_BYTES,
  parseConfig,
  parseDocument,
  withDiffIds,
  type Descriptor,
  type ImageConfig,
  type Manifest,
} from '../oci-documents.ts';
import type { LayerSource } from '../unpack-image.ts';
import { downloadBlob } from './blob-download.ts';
import { parseReference } from './reference.ts';
import { RegistryError } from './registry-error.ts';
import { RegistryHttp, type RegistryOptions } from './registry-http.ts';

/** An index may point to an index; deeper nesting is refused. */
const MAX_INDEX_DEPTH = 3;

const READ_BYTES = 262_144;

export interface PullOptions extends RegistryOptions {
  readonly store: ImageStore;
  readonly limits: ArchiveLimits;
  readonly signal: AbortSignal;
  readonly onBytes: (doneBytes: number, totalBytes: number) => void;
}

export interface PulledImage {
  readonly config: ImageConfig;
  readonly layers: readonly LayerSource[];
  /** The digests of all downloads. */
  readonly blobs: readonly string[];
}

/** Manifest that a reference resolves to now. */
export interface ResolvedImage {
  readonly manifest: Manifest;
  readonly http: RegistryHttp;
}

export async function resolveImage(ref: string, options: PullOptions): Promise<ResolvedImage> {
  const reference = parseReference(ref);
  const http = new RegistryHttp(reference, options);
  const manifest = await findManifest(http, reference.version, options);
  return { manifest, http };
}

export async function downloadImage({ manifest, http }: ResolvedImage, options: PullOptions): Promise<PulledImage> {
  const { store, limits, onBytes } = options;
  const { config, layers } = manifest;
  const totalBytes = layers.reduce((sum, { size }) => sum + size, config.size);
  if (totalBytes > limits.totalBytes) {
    throw new ArchiveError(`the image is ${totalBytes} bytes packed; the limit is ${limits.totalBytes}`);
  }
  if (config.size > MAX_DOCUMENT_BYTES) throw new ArchiveError(`the config of the image is ${config.size} bytes`);

  let doneBytes = 0;
  for (const blob of [config, ...layers]) {
    await fetchBlob(http, blob, options, (bytes) => onBytes(doneBytes + bytes, totalBytes));
    doneBytes += blob.size;
  }

  const parsed = parseConfig(await readFile(blobPath(store, config)));
  const open = layers.map((blob) => () => createReadStream(blobPath(store, blob), { highWaterMark: READ_BYTES }));
  return {
    config: parsed,
    blobs: [config, ...layers].map(({ digest }) => digest),
    layers: withDiffIds(parsed, open),
  };
}

async function findManifest(http: RegistryHttp, start: string, options: PullOptions): Promise<Manifest> {
  let version = start;
  for (let depth = 0; depth < MAX_INDEX_DEPTH; depth++) {
    const bytes = await fetchDocument(http, version, options);
    if (version.startsWith('sha256:') && digestOf(bytes) !== version) {
      throw new RegistryError('broken', `registry sent digest ${digestOf(bytes)} instead of ${version}; pull again`);
    }
    const document = parseDocument(bytes);
    if (!('manifests' in document)) return document;
    version = forThisMachine(document.manifests).digest;
  }
  throw new ArchiveError('image indexes are nested too deep; pull the manifest of one platform');
}

function fetchDocument(http: RegistryHttp, version: string, { retryDelaysMs, signal }: PullOptions): Promise<Buffer> {
  const headers = { accept: DOCUMENT_TYPES.join(', ') };
  return withRetries({ delaysMs: retryDelaysMs, signal }, () =>
    http.getSmall(`manifests/${version}`, { headers, maxBytes: MAX_DOCUMENT_BYTES, signal }),
  );
}

/** Two images may share a layer, so each blob has its own lock. */
function fetchBlob(http: RegistryHttp, blob: Descriptor, options: PullOptions, onBytes: (bytes: number) => void) {
  const { store, signal, retryDelaysMs, stallMs } = options;
  return withBuildLock(store.lockPath(blob.digest), signal, () =>
    withRetries({ delaysMs: retryDelaysMs, signal }, () =>
      downloadBlob({ http, blob, path: blobPath(store, blob), signal, stallMs, onBytes }),
    ),
  );
}

function blobPath(store: ImageStore, { digest }: Descriptor): string {
  return join(store.blobsDir, digest.replace(':', '-'));
}

/** Retries requests that failed temporarily. */
async function withRetries<T>(
  { delaysMs, signal }: { delaysMs: readonly number[]; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  for (const delayMs of delaysMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RegistryError) || error.reason !== 'unreachable') throw error;
    }
    await sleep(delayMs, undefined, { signal });
  }
  return work();
}

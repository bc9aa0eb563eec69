/** A small OCI image: its layers, config and manifest as blobs, for a registry, a layout or an archive. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { tarArchive, type TestEntry } from './tar-archive.ts';

export interface TestImage {
  /** Blobs by digest. */
  readonly blobs: ReadonlyMap<string, Buffer>;
  readonly manifest: Buffer;
  readonly manifestDigest: string;
  readonly configDigest: string;
  readonly layerDigests: readonly string[];
  /** The layers without compression. */
  readonly tars: readonly Buffer[];
}

export interface TestImageOptions {
  pack?: (tar: Buffer) => Buffer;
  layerType?: string;
  /** The `config` member of the config. */
  config?: Record<string, unknown>;
  architecture?: string;
  /** Replaces the digests of the layers. */
  diffIds?: string[];
}

const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar+gzip';
const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

export function ociImage(layers: readonly TestEntry[][], options: TestImageOptions = {}): TestImage {
  const { pack = gzipSync, layerType = LAYER_TYPE, config = {}, architecture = ARCHITECTURE } = options;
  const tars = layers.map(tarArchive);
  const blobs = new Map<string, Buffer>();
  const add = (content: Buffer) => {
    const digest = digestOf(content);
    blobs.set(digest, content);
    return { digest, size: content.length };
  };

  const layerBlobs = tars.map((tar) => add(pack(tar)));
  const diffIds = options.diffIds ?? tars.map(digestOf);
  const configBlob = add(json({ os: 'linux', architecture, config, rootfs: { type: 'layers', diff_ids: diffIds } }));
  const manifest = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...configBlob },
    layers: layerBlobs.map((blob) => ({ mediaType: layerType, ...blob })),
  });
  return {
    blobs,
    manifest,
    manifestDigest: add(manifest).digest,
    configDigest: configBlob.digest,
    layerDigests: layerBlobs.map(({ digest }) => digest),
    tars,
  };
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

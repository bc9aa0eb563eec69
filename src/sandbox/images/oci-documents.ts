/**
 * The JSON documents of an image: index, manifest and config, in Docker's and in OCI's form.
 *
 * They come from a registry or an archive, so nothing in them is trusted before it is parsed.
 */
import { hash } from 'node:crypto';

import { z } from 'zod';

import { ArchiveError } from '#sandbox/archives';
import type { ImageSettings } from './image-store.ts';
import type { LayerSource } from './unpack-image.ts';

/** Largest document that is read. */
export const MAX_DOCUMENT_BYTES = 4 * 2 ** 20;

/** Most layers of one image; Docker itself stops at 127. */
const MAX_LAYERS = 512;

export const DOCUMENT_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];

const LAYER_TYPE =
  /^application\/vnd\.(?:oci\.image\.layer\.v1\.tar|docker\.image\.rootfs\.diff\.tar)(?:[.+](?:gzip|zstd))?$/;

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const Descriptor = z.object({ digest: Digest, size: z.int().nonnegative(), mediaType: z.string().default('') });
const IndexEntry = Descriptor.extend({
  platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
  annotations: z.record(z.string(), z.string()).default({}),
});
const Index = z.object({ manifests: z.array(IndexEntry).min(1).max(1000) });
const Manifest = z.object({ config: Descriptor, layers: z.array(Descriptor).max(MAX_LAYERS) });
const Config = z.object({
  os: z.string().optional(),
  architecture: z.string().optional(),
  config: z
    .object({
      Env: z.array(z.string()).nullish(),
      WorkingDir: z.string().nullish(),
      User: z.string().nullish(),
    })
    .nullish(),
  rootfs: z.object({ diff_ids: z.array(Digest).max(MAX_LAYERS) }),
});

export type Descriptor = z.infer<typeof Descriptor>;
export type IndexEntry = z.infer<typeof IndexEntry>;
export type Manifest = z.infer<typeof Manifest>;

export interface ImageConfig {
  readonly settings: ImageSettings;
  /** The digest of each layer without compression, the lowest first. */
  readonly diffIds: readonly string[];
}

/** An index lists manifests, one per platform or tag; a manifest is one image. */
export function parseDocument(bytes: Buffer): { manifests: IndexEntry[] } | Manifest {
  const json = parseJson(bytes);
  const hasManifests = typeof json === 'object' && json !== null && 'manifests' in json;
  if (hasManifests) return checked(Index, json, 'index');

  const manifest = checked(Manifest, json, 'manifest');
  const odd = manifest.layers.find(({ mediaType }) => !LAYER_TYPE.test(mediaType));
  if (odd) throw new ArchiveError(`a layer is of the type "${odd.mediaType}", which is not supported`);
  return manifest;
}

export function parseConfig(bytes: Buffer): ImageConfig {
  const { os = 'linux', architecture, config, rootfs } = checked(Config, parseJson(bytes), 'config');
  if (os !== 'linux' || (architecture !== undefined && architecture !== ARCHITECTURE)) {
    throw new ArchiveError(`the image is for ${os}/${architecture}; this machine runs linux/${ARCHITECTURE}`);
  }
  return {
    settings: {
      env: config?.Env ?? [],
      ...(config?.WorkingDir ? { workdir: config.WorkingDir } : {}),
      ...(config?.User ? { user: config.User } : {}),
    },
    diffIds: rootfs.diff_ids,
  };
}

/** Each layer with its digest; `open` has the layers in the order of the manifest. */
export function withDiffIds({ diffIds }: ImageConfig, open: readonly LayerSource['open'][]): LayerSource[] {
  if (diffIds.length !== open.length) {
    throw new ArchiveError(`the image has ${open.length} layers and its config speaks of ${diffIds.length}`);
  }
  return open.map((each, at) => ({ diffId: diffIds[at]!, open: each }));
}

/** The name of this machine's architecture in images. */
export const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

export function forThisMachine(entries: readonly IndexEntry[]): IndexEntry {
  const fitting = entries.find(({ platform }) => platform?.os === 'linux' && platform.architecture === ARCHITECTURE);
  const [only] = entries.length === 1 && entries[0]?.platform === undefined ? entries : [];
  const chosen = fitting ?? only;
  if (chosen) return chosen;

  const offered = entries.flatMap(({ platform }) => (platform ? `${platform.os}/${platform.architecture}` : []));
  throw new ArchiveError(
    `the image has nothing for linux/${ARCHITECTURE}; it has ${offered.join(', ') || 'no platforms'}`,
  );
}

/** The id of a stack of layers: each is hashed together with those below it. */
export function chainIdOf(diffIds: readonly string[]): string {
  const [first, ...above] = diffIds;
  if (first === undefined) throw new ArchiveError('the image has no layers');
  return above.reduce((chain, diffId) => digestOf(`${chain} ${diffId}`), first);
}

export function digestOf(content: string | Buffer): string {
  return `sha256:${hash('sha256', content)}`;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw new ArchiveError('a document of the image is not JSON', { cause: error });
  }
}

function checked<T>(schema: z.ZodType<T>, json: unknown, what: string): T {
  const { data, error } = schema.safeParse(json);
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  throw new ArchiveError(`the ${what} of the image is malformed: ${issue?.path.join('.')}: ${issue?.message}`);
}

/**
 * Reads the image in an archive: an OCI layout (a directory, or a tar of one) or the output of `docker save`.
 *
 * New versions of `docker save` write both forms into one file; the OCI form is used, because it has digests.
 */
import { z } from 'zod';

import { ArchiveError } from '#sandbox/archives';
import type { ArchiveFiles } from './archive-files.ts';
import {
  digestOf,
  forThisMachine,
  MAX_DOCUMENT_BYTES,
  parseConfig,
  parseDocument,
  type Descriptor,
  type ImageConfig,
  withDiffIds,
  type IndexEntry,
} from './oci-documents.ts';
import type { LayerSource } from './unpack-image.ts';

const MAX_INDEX_DEPTH = 3;

/** Annotations with the tag of an entry, as the various tools write them. */
const NAME_ANNOTATIONS = ['io.containerd.image.name', 'org.opencontainers.image.ref.name'];

const DockerManifest = z
  .array(
    z.object({
      Config: z.string().regex(/^[\w./:-]+$/),
      RepoTags: z.array(z.string()).nullish(),
      Layers: z.array(z.string().regex(/^[\w./:-]+$/)).max(512),
    }),
  )
  .min(1);

export interface ArchivedImage {
  readonly config: ImageConfig;
  readonly layers: readonly LayerSource[];
}

/** `names`: possible tags of the image, for an archive with several. */
export async function readArchive(files: ArchiveFiles, names: readonly string[]): Promise<ArchivedImage> {
  if (files.has('index.json')) return readLayout(files, names);
  if (files.has('manifest.json')) return readDockerArchive(files, names);
  throw new ArchiveError('this is neither an OCI layout (index.json) nor a docker archive (manifest.json)');
}

async function readLayout(files: ArchiveFiles, names: readonly string[]): Promise<ArchivedImage> {
  let document = parseDocument(await files.read('index.json', { maxBytes: MAX_DOCUMENT_BYTES }));
  for (let depth = 0; 'manifests' in document; depth++) {
    if (depth === MAX_INDEX_DEPTH)
      throw new ArchiveError('image indexes are nested too deep; export the image of one platform');
    const entry = depth === 0 ? chooseEntry(document.manifests, names) : forThisMachine(document.manifests);
    document = parseDocument(await readBlob(files, entry));
  }

  const config = parseConfig(await readBlob(files, document.config));
  return { config, layers: layersOf(config, document.layers.map(blobName), files) };
}

async function readDockerArchive(files: ArchiveFiles, names: readonly string[]): Promise<ArchivedImage> {
  const text = (await files.read('manifest.json', { maxBytes: MAX_DOCUMENT_BYTES })).toString();
  const images = DockerManifest.safeParse(JSON.parse(text));
  if (!images.success) throw new ArchiveError(`manifest.json is malformed: ${images.error.issues[0]?.message}`);

  const rows = images.data.map((image) => ({ image, tags: image.RepoTags ?? [] }));
  const { image } = chooseOne(rows, names);
  const config = parseConfig(await files.read(inside(image.Config), { maxBytes: MAX_DOCUMENT_BYTES }));
  return { config, layers: layersOf(config, image.Layers.map(inside), files) };
}

function layersOf(config: ImageConfig, paths: readonly string[], files: ArchiveFiles): LayerSource[] {
  return withDiffIds(
    config,
    paths.map((path) => () => files.open(path)),
  );
}

/** Chooses by tag, or by platform. */
function chooseEntry(entries: readonly IndexEntry[], names: readonly string[]): IndexEntry {
  const rows = entries.map((entry) => ({
    entry,
    tags: NAME_ANNOTATIONS.flatMap((key) => entry.annotations[key] ?? []),
  }));
  const hasTags = rows.some(({ tags }) => tags.length > 0);
  if (entries.length > 1 && !hasTags) return forThisMachine(entries);
  return chooseOne(rows, names).entry;
}

function chooseOne<T extends { tags: readonly string[] }>(rows: readonly T[], names: readonly string[]): T {
  const [only] = rows;
  if (rows.length === 1 && only) return only;
  const named = rows.find(({ tags }) => tags.some((tag) => names.includes(tag)));
  if (named) return named;
  const offered = rows.flatMap(({ tags }) => tags).join(', ');
  throw new ArchiveError(`the archive holds ${rows.length} images and none is named ${names[0]}; it has ${offered}`);
}

async function readBlob(files: ArchiveFiles, blob: Descriptor): Promise<Buffer> {
  const bytes = await files.read(blobName(blob), { maxBytes: MAX_DOCUMENT_BYTES });
  if (digestOf(bytes) !== blob.digest)
    throw new ArchiveError(`the blob ${blob.digest} has the digest ${digestOf(bytes)}`);
  return bytes;
}

function blobName({ digest }: Descriptor): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/** A name from a document must stay in the archive, which may be a directory. */
function inside(name: string): string {
  if (name.startsWith('/') || name.split('/').includes('..')) throw new ArchiveError(`${name} leaves the archive`);
  return name;
}

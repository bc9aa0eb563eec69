/**
 * The three sources of an image: a registry, an archive, or a build on this machine. Each ends with a tree and a record
 * in the store.
 */
import { rmSync } from 'node:fs';

import type { Log } from '#contract';
import { ArchiveError, type ArchiveLimits } from '#sandbox/archives';
import { openArchiveFiles } from './archive-files.ts';
import { isPreset, type PresetName } from './catalogue.ts';
import { throttled, type OnProgress } from './image-progress.ts';
import type { ImageStore, RefRecord } from './image-store.ts';
import { chainIdOf } from './oci-documents.ts';
import { addAppFolder } from './presets/app-folder.ts';
import { missingToBuild } from './presets/build-needs.ts';
import { fetchPreset } from './presets/build-preset.ts';
import { readArchive } from './read-archive.ts';
import {
  downloadImage,
  resolveImage,
  type PulledImage,
  type PullOptions,
  type ResolvedImage,
} from './registry/pull.ts';
import { RegistryError } from './registry/registry-error.ts';
import type { RegistryOptions } from './registry/registry-http.ts';
import { unpackImage } from './unpack-image.ts';

export interface MakerOptions {
  readonly store: ImageStore;
  readonly limits: ArchiveLimits;
  readonly log: Log;
  readonly registry: RegistryOptions;
}

export interface Wanted {
  readonly name: string;
  readonly ref: string;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  /** An archive with another image is refused. */
  readonly digest?: string | undefined;
}

/** How long a registry may take to start its answer when there is another source. */
const QUICK_ANSWER_MS = 5_000;

/** Usual build time of a preset with fast downloads. */
const USUAL_BUILD_MS = 40_000;
const REPORT_EVERY_MS = 1_000;

/**
 * Reports an estimate at once and every second: the share of the usual time that has passed, slower towards the end.
 */
function reportShare(report: (share: number) => void): () => void {
  const startedMs = performance.now();
  const shareNow = () => 1 - Math.exp(-(performance.now() - startedMs) / USUAL_BUILD_MS);
  report(0);
  const timer = setInterval(() => report(shareNow()), REPORT_EVERY_MS);
  return () => clearInterval(timer);
}

/** How an image would be obtained. */
export type Outlook =
  | { readonly kind: 'here' | 'registry' | 'build' }
  | { readonly kind: 'none'; readonly why: string; readonly missing: readonly string[] };

export class ImageMaker {
  readonly #options: MakerOptions;

  constructor(options: MakerOptions) {
    this.#options = options;
  }

  /** Makes the image from its registry; builds a preset that no registry has. */
  async make(wanted: Wanted): Promise<RefRecord> {
    const { name, ref } = wanted;
    if (!isPreset(name)) return this.#download(wanted, await resolveImage(ref, this.#pullOptions(wanted)));

    const resolved = await this.#resolvePreset(wanted);
    return resolved ? this.#download(wanted, resolved) : this.#build(wanted, name);
  }

  /** Returns the plan of `make`; reads only the manifest from a registry. */
  async outlook(wanted: Wanted): Promise<Outlook> {
    const { name } = wanted;
    try {
      await this.#resolveQuickly(wanted);
      return { kind: 'registry' };
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      if (!isPreset(name)) return { kind: 'none', why: error.message, missing: [] };
      const missing = missingToBuild(name);
      if (missing.length === 0) return { kind: 'build' };
      return { kind: 'none', why: `no registry gives it, and building it needs ${missing.join(', ')}`, missing };
    }
  }

  async import(archivePath: string, wanted: Wanted): Promise<RefRecord> {
    const { limits } = this.#options;
    const { name, ref, signal } = wanted;
    return this.#withWorkDir(async (workDir) => {
      const files = await openArchiveFiles(archivePath, { workDir, limits, signal });
      const { config, layers } = await readArchive(files, [name, ref]);
      const digest = chainIdOf(config.diffIds);
      if (wanted.digest !== undefined && digest !== wanted.digest)
        throw new ArchiveError(`the archive holds ${digest}, not ${wanted.digest}`);
      return this.#unpack(wanted, { config, layers, source: 'archive', blobs: [] });
    });
  }

  /** Undefined if no registry is configured or none has the preset. */
  async #resolvePreset(wanted: Wanted): Promise<ResolvedImage | undefined> {
    try {
      return await this.#resolveQuickly(wanted);
    } catch (error) {
      if (!(error instanceof RegistryError) || error.reason === 'broken') throw error;
      this.#options.log.info('no registry gives the preset; it is built here', {
        image: wanted.name,
        why: error.message,
      });
      return undefined;
    }
  }

  #resolveQuickly(wanted: Wanted): Promise<ResolvedImage> {
    const quick = { answerMs: QUICK_ANSWER_MS, retryDelaysMs: [] };
    return resolveImage(wanted.ref, { ...this.#pullOptions(wanted), ...quick });
  }

  async #download(wanted: Wanted, resolved: ResolvedImage): Promise<RefRecord> {
    const pulled = await downloadImage(resolved, this.#pullOptions(wanted));
    return this.#unpack(wanted, { ...pulled, source: 'registry' });
  }

  async #unpack(
    { name, ref, signal, onProgress }: Wanted,
    { config: { diffIds, settings }, layers, source, blobs }: PulledImage & Pick<RefRecord, 'source'>,
  ): Promise<RefRecord> {
    const { store, limits } = this.#options;
    const report = throttled(onProgress);
    const digest = chainIdOf(diffIds);
    await store.makeTree(digest, (rootDir) => {
      const onBytes = (doneBytes: number) => report({ image: name, phase: 'unpacking', doneBytes });
      const addTo = isPreset(name) ? addAppFolder : undefined;
      return unpackImage(layers, rootDir, { limits, signal, onBytes, addTo });
    });
    return this.#record({ ref, digest, source, blobs: [...blobs], settings });
  }

  #build({ ref, signal, onProgress }: Wanted, name: PresetName): Promise<RefRecord> {
    const { store, limits } = this.#options;
    return this.#withWorkDir(async (workDir) => {
      const stop = reportShare((share) => onProgress({ image: name, phase: 'building', doneBytes: 0, share }));
      const { digest, env, unpack } = await fetchPreset(name, { workDir, signal }).finally(stop);
      onProgress({ image: name, phase: 'unpacking', doneBytes: 0 });
      await store.makeTree(digest, (rootDir) => unpack(rootDir, { limits, signal }));
      return this.#record({ ref, digest, source: 'built', blobs: [], settings: { env: [...env] } });
    });
  }

  #pullOptions({ name, signal, onProgress }: Wanted): PullOptions {
    const report = throttled(onProgress);
    const onBytes = (doneBytes: number, totalBytes: number) =>
      report({ image: name, phase: 'downloading', doneBytes, totalBytes });
    const { store, limits, registry } = this.#options;
    return { ...registry, store, limits, signal, onBytes };
  }

  #record(record: RefRecord): RefRecord {
    this.#options.store.setRef(record);
    return record;
  }

  async #withWorkDir<T>(work: (workDir: string) => Promise<T>): Promise<T> {
    const workDir = this.#options.store.makeWorkDir();
    try {
      return await work(workDir);
    } finally {
      rmSync(workDir, { recursive: true, force: true });
    }
  }
}

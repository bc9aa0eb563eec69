/**
 * The images of sandboxes: found in the cache, or else pulled from a registry or built.
 *
 * The caller gets a directory that never changes; a sandbox puts its own writable layer over it.
 */
import { rmSync } from 'node:fs';

import { silentLog, type Log } from '#contract';
import { ARCHIVE_LIMITS, ArchiveError, type ArchiveLimits } from '#sandbox/archives';
import { withBuildLock } from './build-lock.ts';
import { cacheIdOf } from './cache-id.ts';
import { imageCatalogue, type CatalogueRow } from './catalogue.ts';
import { exportTree, type ExportedImage } from './export-image.ts';
import { ImageError } from './image-error.ts';
import { ImageMaker, type Outlook, type Wanted } from './image-maker.ts';
import type { ImageProgress, OnProgress } from './image-progress.ts';
import { ImageStore, type RefRecord } from './image-store.ts';
import { listImages, type ImageRow } from './list-images.ts';
import { BuildError } from './presets/build-error.ts';
import { pruneImages, type PruneOptions, type PruneReport } from './prune-images.ts';
import { InvalidReference, parseReference, spellReference } from './registry/reference.ts';
import { RegistryError } from './registry/registry-error.ts';
import { REGISTRY_DEFAULTS, type RegistryOptions } from './registry/registry-http.ts';
import { SharedWork } from './shared-work.ts';

export interface PreparedImage {
  readonly name: string;
  readonly ref: string;
  /** The chain id: identifies the content, whatever its source. */
  readonly digest: string;
  /** The files, never changed. */
  readonly rootDir: string;
  readonly env: string[];
  readonly workdir?: string | undefined;
  readonly user?: string | undefined;
}

export interface ImagesOptions {
  readonly cacheDir: string;
  readonly customImages: Readonly<Record<string, string>>;
  readonly allowlist: readonly string[];
  readonly autoInstall: boolean;
  readonly log?: Log;
  readonly limits?: ArchiveLimits;
  readonly registry?: Partial<RegistryOptions>;
}

export interface WorkOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

export class Images {
  readonly catalogue: readonly CatalogueRow[];
  readonly #allowlist: readonly string[];
  readonly #autoInstall: boolean;
  readonly #store: ImageStore;
  readonly #maker: ImageMaker;
  readonly #making = new SharedWork<RefRecord, ImageProgress>();

  constructor(options: ImagesOptions) {
    const { cacheDir, customImages, allowlist, autoInstall, log = silentLog, limits = ARCHIVE_LIMITS } = options;
    const registry = { ...REGISTRY_DEFAULTS, ...options.registry };
    this.catalogue = imageCatalogue(customImages);
    this.#allowlist = allowlist;
    this.#autoInstall = autoInstall;
    this.#store = new ImageStore(cacheDir);
    this.#maker = new ImageMaker({ store: this.#store, limits, log, registry });
  }

  get cacheId(): string | undefined {
    return cacheIdOf(this.#store.dir);
  }

  /** Whether the image could be prepared without a network. Does not check whether it is allowed. */
  async isCached(name: string): Promise<boolean> {
    return this.list().some((row) => row.name === name && row.cached !== null);
  }

  /** Finds the image, or makes it. Throws an `ImageError`. */
  async prepare(name: string, options: WorkOptions): Promise<PreparedImage> {
    const { ref } = this.#allowed(name);
    const cached = this.#cached(this.#refOf(ref));
    if (!cached && !this.#autoInstall) throw new ImageError(name, 'it is not on this machine');
    return this.#prepared(name, cached ?? (await this.#make(name, options, 'if-missing')));
  }

  /** How the image would be obtained when a sandbox needs it. */
  async outlook(name: string, signal: AbortSignal): Promise<Outlook> {
    if (await this.isCached(name)) return { kind: 'here' };
    if (!this.#autoInstall) return { kind: 'none', why: 'it is not here, and auto_install is false', missing: [] };
    const row = this.catalogue.find((candidate) => candidate.name === name);
    if (!row) return { kind: 'none', why: 'no image has this name', missing: [] };
    try {
      return await this.#maker.outlook({ name, ref: this.#refOf(row.ref), signal, onProgress: () => {} });
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      return { kind: 'none', why: error.problem, missing: [] };
    }
  }

  /** Resolves the name or reference now, and fetches or builds the image if it changed. */
  async pull(nameOrRef: string, options: WorkOptions): Promise<PreparedImage> {
    return this.#prepared(nameOrRef, await this.#make(nameOrRef, options, 'always'));
  }

  /** Imports the image of an archive under the name or reference. */
  async import(
    archivePath: string,
    nameOrRef: string,
    { signal, onProgress = () => {}, digest }: WorkOptions & { digest?: string },
  ): Promise<PreparedImage> {
    const ref = this.#refOf(nameOrRef);
    const wanted = { name: nameOrRef, ref, signal, onProgress, digest };
    return this.#prepared(nameOrRef, await this.#explaining(nameOrRef, () => this.#maker.import(archivePath, wanted)));
  }

  /**
   * The archive of a cached image that no registry has, for `import` on another machine. Undefined for any other. Call
   * `close` when it is sent.
   */
  async export(
    name: string,
    signal: AbortSignal,
  ): Promise<(ExportedImage & { ref: string; close: () => void }) | undefined> {
    const found = this.#cached(this.#refOf(this.#allowed(name).ref));
    if (!found || found.source === 'registry') return undefined;
    const { ref, digest } = found;
    this.hold(digest);
    const workDir = this.#store.makeWorkDir();
    const close = () => {
      rmSync(workDir, { recursive: true, force: true });
      this.release(digest);
    };
    try {
      const image = { rootDir: this.#store.rootDir(digest), settings: found.settings };
      return { ...(await this.#explaining(name, () => exportTree(image, { workDir, signal }))), ref, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  /** A directory for a file to import; the caller removes it. */
  makeWorkDir(): string {
    return this.#store.makeWorkDir();
  }

  /** The reference that a name of the catalogue stands for. */
  refOf(name: string): string {
    return this.#refOf(name);
  }

  /** Lists every image of the catalogue and the cache. */
  list(): ImageRow[] {
    return listImages(this.#store, this.catalogue);
  }

  prune(options: PruneOptions): PruneReport {
    return pruneImages(this.#store, options);
  }

  /** Cleans up after dead processes, except for slow work. */
  sweep(): void {
    this.#store.removeDeadHolds();
  }

  /** Marks the image as in use: from now on no process prunes it. */
  hold(digest: string): void {
    this.#store.hold(digest);
  }

  release(digest: string): void {
    this.#store.release(digest);
  }

  #make(name: string, { signal, onProgress }: WorkOptions, when: 'if-missing' | 'always'): Promise<RefRecord> {
    const ref = this.#refOf(name);
    return this.#making.do(`${when} ${ref}`, { signal, onProgress }, (shared, report) =>
      this.#explaining(name, () => this.#makeAlone({ name, ref, signal: shared, onProgress: report }, when)),
    );
  }

  #makeAlone(wanted: Wanted, when: 'if-missing' | 'always'): Promise<RefRecord> {
    const { ref, signal } = wanted;
    return withBuildLock(this.#store.lockPath(ref), signal, async () => {
      // Another process may have made it while this one waited.
      const cached = when === 'if-missing' ? this.#cached(ref) : undefined;
      if (cached) return cached;
      const made = await this.#maker.make(wanted);
      // Marks it as used: the same content may have been cached, unused, for long.
      this.#store.markUsed(made.digest);
      return made;
    });
  }

  /** Returns the cached image, and marks it as used so that it is not pruned. */
  #cached(ref: string): RefRecord | undefined {
    const found = this.#store.find(ref);
    return found && this.#store.markUsed(found.digest) ? found : undefined;
  }

  #allowed(name: string): CatalogueRow {
    const row = this.catalogue.find((candidate) => candidate.name === name);
    if (!row) throw new ImageError(name, 'no image has this name');
    if (!this.#allowlist.includes(name)) throw new ImageError(name, 'image_allowlist does not have it');
    return row;
  }

  /** The reference of a name in the catalogue, or of a reference in any spelling. */
  #refOf(nameOrRef: string): string {
    const ref = this.catalogue.find(({ name }) => name === nameOrRef)?.ref ?? nameOrRef;
    try {
      return spellReference(parseReference(ref));
    } catch (error) {
      throw explained(nameOrRef, error);
    }
  }

  #prepared(name: string, { ref, digest, settings }: RefRecord): PreparedImage {
    return { name, ref, digest, rootDir: this.#store.rootDir(digest), ...settings };
  }

  async #explaining<T>(image: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explained(image, error);
    }
  }
}

function explained(image: string, error: unknown): unknown {
  const expected = [ArchiveError, BuildError, InvalidReference, RegistryError];
  const isExpected = error instanceof Error && (expected.some((kind) => error instanceof kind) || 'errno' in error);
  return isExpected ? new ImageError(image, error.message, { cause: error }) : error;
}

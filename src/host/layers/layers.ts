/** The changes over one workspace: begins, finds, lists and discards them. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { nearestName } from '#contract';
import type { ChangeScope } from '../changes/jail-changes.ts';
import { stateDirOf } from '../journal/shared-journal.ts';
import { isCode, LayerStore, type LayerMeta, type LayerPaths } from './layer-store.ts';
import { LayerError, type MountLayer } from './layer.ts';
import { changedSince, sizeOfLayer, type LayerSize } from './measure-layer.ts';
import { OpenLayer } from './open-layer.ts';
import { isPinned } from './pins.ts';

export interface LayerLimits {
  readonly maxOpen: number;
  readonly maxBytes: number;
  readonly idleMs: number;
}

export interface LayersOptions {
  readonly stateDir: string | null;
  readonly limits: LayerLimits;
  readonly mount: MountLayer;
}

/** Commits everything in a layer to the workspace. The layer is entered, no command runs in it, and the caller removes it. */
export type CommitOwn = (
  layer: OpenLayer,
  scope: ChangeScope & { message: string },
) => Promise<{ seq?: number; files: number }>;

export interface ListedLayer extends LayerSize, LayerMeta {
  readonly name: string;
  readonly lastUsedMs: number;
  readonly commands: number;
  readonly movedUnderneath: number | null;
  readonly isOpen: boolean;
  readonly isWaiting: boolean;
  readonly isStale: boolean;
  readonly isOverLimit: boolean;
}

/** By store: workers of this process find the changes of their workspace here. */
const open = new Map<string, Layers>();

/** The changes over a workspace that a worker of this process serves; undefined if none does. */
export function layersOf(workspace: string, { state_dir }: { readonly state_dir?: string | null }): Layers | undefined {
  return open.get(new LayerStore(stateDirOf({ state_dir }), workspace).directory);
}

export class Layers {
  /** Canonical. */
  readonly workspace: string;
  readonly store: LayerStore;
  readonly limits: LayerLimits;
  readonly #mount: MountLayer;
  /** Commits the layer of one command as a record; undefined until the worker that commits changes sets it. */
  commitOwn: CommitOwn | undefined;
  readonly #layers = new Map<string, OpenLayer>();

  constructor(workspace: string, { stateDir, limits, mount }: LayersOptions) {
    this.workspace = workspace;
    this.limits = limits;
    this.#mount = mount;
    this.store = new LayerStore(stateDirOf({ state_dir: stateDir }), workspace);
    open.set(this.store.directory, this);
  }

  /** Throws `malformed` for a name that is taken, `limit`, and `unavailable` where the layer cannot be mounted. */
  async begin({
    name,
    ...meta
  }: Omit<LayerMeta, 'beganAtMs'> & { name?: string | undefined }): Promise<
    Pick<OpenLayer, 'name'> & { mount: 'overlay' | 'overlay-user'; beganAtMs: number }
  > {
    this.#refuseStateInWorkspace();
    const count = this.store.names().length;
    if (count >= this.limits.maxOpen) {
      throw new LayerError(
        'limit',
        `${count} changes are open, and max_open is ${this.limits.maxOpen}; commit or discard one (change::list shows them)`,
      );
    }
    const layer = this.#known(this.#make(name, meta));
    try {
      const lease = await layer.enter();
      const { mount } = layer.mounted;
      lease[Symbol.dispose]();
      return { name: layer.name, mount, beganAtMs: layer.meta.beganAtMs };
    } catch (error) {
      await this.#remove(layer);
      throw error;
    }
  }

  #make(name: string | undefined, meta: Omit<LayerMeta, 'beganAtMs'>): string {
    try {
      return this.store.make(name, meta).name;
    } catch (error) {
      if (error instanceof LayerError || !(error instanceof Error && 'errno' in error)) throw error;
      throw new LayerError(
        'system',
        `the change cannot be stored: ${error.message}; set state_dir to a writable directory with space`,
        { cause: error },
      );
    }
  }

  /** Enters the change for one call; throws if it is over its size limit, unless `mayExceed`. */
  async enter(name: string, { mayExceed = false } = {}): Promise<{ layer: OpenLayer } & Disposable> {
    const layer = this.find(name);
    const { bytes } = mayExceed ? { bytes: 0 } : await layer.size();
    if (bytes > this.limits.maxBytes) {
      throw new LayerError(
        'limit',
        `the change ${name} has ${bytes} bytes, and max_bytes is ${this.limits.maxBytes}; commit or discard it`,
      );
    }
    const lease = await layer.enter();
    return { layer, [Symbol.dispose]: () => lease[Symbol.dispose]() };
  }

  /** Throws `unknown`. */
  find(name: string): OpenLayer {
    if (this.store.has(name)) return this.#known(name);
    const known = this.#layers.get(name);
    if (known) {
      this.#layers.delete(name);
      void known.release({ isRemoved: true });
    }
    const names = this.store.names();
    const near = nearestName(name, names);
    const hint =
      near !== undefined
        ? `; did you mean ${near}?`
        : names.length > 0
          ? `; open are ${names.slice(0, 8).join(', ')}`
          : '; change::begin opens one';
    throw new LayerError('unknown', `there is no change ${JSON.stringify(name)}${hint}`, {
      ...(near !== undefined && { fix: { change: near } }),
    });
  }

  async list(signal?: AbortSignal): Promise<ListedLayer[]> {
    const known = this.store.names().map((name) => this.store.pathsOf(name));
    const begins = known.flatMap((paths) => unlessGone(() => this.store.beganAtCtimeNs(paths)) ?? []);
    if (begins.length === 0) return [];
    const oldest = begins.reduce((a, b) => (a < b ? a : b));
    const changed = await changedSince(this.workspace, oldest);
    signal?.throwIfAborted();
    const locks = lockedInodes();
    const listed = await Promise.all(known.map((paths) => this.#listed(paths, { changed, locks })));
    return listed.filter((one) => one !== undefined);
  }

  /** Undefined for one that has ended meanwhile. */
  async #listed(
    paths: LayerPaths,
    { changed, locks }: { changed: Map<string, bigint> | undefined; locks: ReadonlySet<number> },
  ): Promise<ListedLayer | undefined> {
    const layer = this.#layers.get(paths.name);
    const size = layer ? await layer.size({ isExact: true }) : await sizeOfLayer(paths.upper);
    return unlessGone(() => {
      const lastUsedMs = this.store.lastUsedMs(paths);
      const began = this.store.beganAtCtimeNs(paths);
      const moved = changed && [...changed].filter(([path, ctime]) => ctime >= began && !isPinned(paths.pins, path));
      return {
        ...this.store.metaOf(paths),
        ...size,
        ...{ name: paths.name, lastUsedMs, commands: layer?.commandCount ?? 0 },
        movedUnderneath: moved?.length ?? null,
        isOpen: layer?.isMounted === true || locks.has(statSync(paths.lock).ino),
        isWaiting: existsSync(paths.waiting),
        isStale: Date.now() - lastUsedMs > this.limits.idleMs,
        isOverLimit: size.bytes > this.limits.maxBytes,
      };
    });
  }

  async discard(name: string): Promise<LayerSize> {
    const layer = this.find(name);
    // Takes the lock, so that no other server has it.
    await layer.enter().then(
      (lease) => lease[Symbol.dispose](),
      (error: unknown) => {
        if (!(error instanceof LayerError) || error.reason !== 'unavailable') throw error;
      },
    );
    const size = await layer.size({ isExact: true });
    await this.#remove(layer);
    return size;
  }

  async #remove(layer: OpenLayer): Promise<void> {
    this.#layers.delete(layer.name);
    await layer.release({ isRemoved: true });
    this.store.remove(layer.paths);
  }

  /** Removes a committed change, of which the caller has exclusive use. */
  async end(layer: OpenLayer): Promise<void> {
    await this.#remove(layer);
  }

  async close(): Promise<void> {
    if (open.get(this.store.directory) === this) open.delete(this.store.directory);
    await Promise.all([...this.#layers.values()].map((layer) => layer.release()));
    this.#layers.clear();
    await this.store.swept();
  }

  #known(name: string): OpenLayer {
    const layer = this.#layers.get(name) ?? new OpenLayer(this.store, this.store.pathsOf(name), this.#mount);
    this.#layers.set(name, layer);
    return layer;
  }

  #refuseStateInWorkspace(): void {
    const isBelow = `${canonical(this.store.directory)}/`.startsWith(
      this.workspace === '/' ? '/' : `${this.workspace}/`,
    );
    if (!isBelow) return;
    throw new LayerError(
      'unavailable',
      `changes need a state_dir outside the workspace ${this.workspace}, but it is ${this.store.directory}: choose a project directory as workspace, or another state_dir`,
    );
  }
}

/** Resolves symlinks of a path that may not exist yet. */
function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isCode(error, 'ENOENT') || path === '/') throw error;
    return join(canonical(dirname(path)), basename(path));
  }
}

/** Undefined if the change was removed while its files were read. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Inodes of locked files, as far as the kernel shows them to this process. */
function lockedInodes(): Set<number> {
  try {
    const lines = readFileSync('/proc/locks', 'utf8').split('\n');
    return new Set(
      lines.filter((line) => line.includes('FLOCK')).map((line) => Number(/:(\d+) \d+ \S+$/.exec(line)?.[1])),
    );
  } catch {
    return new Set();
  }
}

/**
 * One change in this process: mounted when a call needs it, and released some time after the last call.
 *
 * Calls share it. A commit has exclusive use of it, and is refused while commands run in it.
 */
import { closeSync, existsSync, openSync, statSync } from 'node:fs';

import { DESCRIPTORS } from '../jail/own-descriptors.ts';
import { LayerActivity } from './activity.ts';
import type { LayerMeta, LayerPaths, LayerStore } from './layer-store.ts';
import { LayerError, type Layer, type MountedLayer, type MountLayer } from './layer.ts';
import { sizeOfLayer, type LayerSize } from './measure-layer.ts';

/** Another server can take the change after this time without a call or a command. */
const RELEASE_MS = 30_000;

/** Changes of other programs in the workspace show after this time at the latest. */
const STALE_MS = 1000;

/** The size is counted again when this many times the time that it took has passed. */
const MEASURE_PAUSE = 20;

interface Command {
  readonly done: Promise<unknown>;
  end(): Promise<unknown>;
}

/** State that a worker keeps for calls in the change. */
interface Kept {
  readonly context: unknown;
  close(): Promise<unknown>;
}

interface Mounted {
  readonly layer: MountedLayer;
  readonly lock: number;
  readonly kept: Map<object, Promise<Kept>>;
  movedBytes: number;
  refreshedAt: number;
}

/** The changes that this process has mounted, by their directory in the store. */
export const mountedLayers = new Map<string, OpenLayer>();

export class OpenLayer implements Layer {
  readonly paths: LayerPaths;
  readonly meta: LayerMeta;
  readonly workspace: string;
  readonly beganAtCtimeNs: bigint;
  readonly gitAtBegin?: string;
  readonly activity: LayerActivity;
  readonly #store: LayerStore;
  readonly #mount: MountLayer;
  readonly #commands = new Set<Command>();
  #mounted: Mounted | undefined;
  #mounting: Promise<Mounted> | undefined;
  #users = 0;
  #becameFree = () => {};
  /** Settles when the work with exclusive use is done. */
  #alone: Promise<unknown> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #size: LayerSize | undefined;
  #measuring: Promise<LayerSize> | undefined;
  #measureAgainAt = 0;
  #isRemoved = false;

  constructor(store: LayerStore, paths: LayerPaths, mount: MountLayer) {
    this.#store = store;
    this.paths = paths;
    this.workspace = store.workspace;
    this.#mount = mount;
    this.meta = store.metaOf(paths);
    this.activity = new LayerActivity(paths.activity);
    this.beganAtCtimeNs = store.beganAtCtimeNs(paths);
    if (existsSync(paths.git)) this.gitAtBegin = paths.git;
  }

  get name(): string {
    return this.paths.name;
  }

  get upper(): string {
    return this.paths.upper;
  }

  get pins(): string {
    return this.paths.pins;
  }

  /** Valid while it is entered. */
  get view(): string {
    return `${DESCRIPTORS}/${this.mounted.view.fd}`;
  }

  /** Throws unless it is entered. */
  get mounted(): MountedLayer {
    if (!this.#mounted) throw new Error(`the change ${this.name} is not mounted`);
    return this.#mounted.layer;
  }

  get isMounted(): boolean {
    return this.#mounted !== undefined;
  }

  get commandCount(): number {
    return this.#commands.size;
  }

  /** Mounts it unless it is, and keeps it mounted until the lease ends. */
  async enter(): Promise<Disposable> {
    while (this.#alone) await this.#alone.catch(() => {});
    this.#users++;
    try {
      const mounted = await this.#open();
      await this.#refreshIfMoved(mounted);
      this.#store.touch(this.paths);
    } catch (error) {
      this.#leave();
      throw error;
    }
    let isLeft = false;
    return {
      [Symbol.dispose]: () => {
        if (!isLeft) this.#leave();
        isLeft = true;
      },
    };
  }

  /** Runs the work while no call and no command uses it. Throws `busy` if commands run. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone) await this.#alone.catch(() => {});
    this.#refuseBusy();
    const run = async () => {
      if (this.#users > 0) await new Promise<void>((resolve) => (this.#becameFree = resolve));
      this.#refuseBusy();
      await this.#refreshIfMoved(await this.#open());
      return await work();
    };
    const running = run().finally(() => {
      this.#alone = undefined;
      this.#releaseLater();
    });
    this.#alone = running;
    return await running;
  }

  #refuseBusy(): void {
    const count = this.#commands.size;
    if (count === 0) return;
    throw new LayerError(
      'busy',
      `${count} command${count === 1 ? ' runs' : 's run'} in the change ${this.name}; wait, or end ${count === 1 ? 'it' : 'them'} with shell::kill`,
    );
  }

  /** Keeps it mounted while a command runs in it. */
  track(command: Command): void {
    this.#commands.add(command);
    void command.done.finally(() => {
      this.#commands.delete(command);
      this.#releaseLater();
    });
  }

  /** Resolves when no command runs in it. */
  async commandsEnded(): Promise<void> {
    while (this.#commands.size > 0) await Promise.allSettled([...this.#commands].map(({ done }) => done));
  }

  /** A context of a worker for calls in the change, made once for each mount; the change is entered. */
  async kept<Context>(
    worker: object,
    make: () => Promise<{ context: Context; close(): Promise<unknown> }>,
  ): Promise<Context> {
    const { kept } = await this.#open();
    const making = kept.get(worker) ?? make();
    kept.set(worker, making);
    try {
      return (await making).context as Context;
    } catch (error) {
      kept.delete(worker);
      throw error;
    }
  }

  /** Refreshes the mount for new pins of other changes, if commands or calls use it now. */
  async refreshIfUsed(): Promise<void> {
    if (this.#mounted && (this.#users > 0 || this.#commands.size > 0)) await this.#refreshIfMoved(this.#mounted);
  }

  /** The size of the layer; counts again if the last count is too old, or with `isExact`. */
  async size({ isExact = false } = {}): Promise<LayerSize> {
    if (this.#size && !isExact && performance.now() < this.#measureAgainAt) return this.#size;
    this.#measuring ??= this.#measure().finally(() => (this.#measuring = undefined));
    return await this.#measuring;
  }

  async #measure(): Promise<LayerSize> {
    const startedAt = performance.now();
    this.#size = await sizeOfLayer(this.upper);
    this.#measureAgainAt = performance.now() + (performance.now() - startedAt) * MEASURE_PAUSE;
    return this.#size;
  }

  /** Ends commands and closes the state of workers, then releases mount and lock. */
  async release({ isRemoved = false } = {}): Promise<void> {
    clearTimeout(this.#timer);
    this.#isRemoved ||= isRemoved;
    await Promise.all([...this.#commands].map(async (command) => (await command.end(), await command.done)));
    const mounted = this.#mounted ?? (await this.#mounting?.catch(() => undefined));
    this.#mounted = undefined;
    this.#mounting = undefined;
    if (!mounted) return;
    for (const making of mounted.kept.values()) await making.then((kept) => kept.close()).catch(() => {});
    if (mountedLayers.get(this.paths.directory) === this) mountedLayers.delete(this.paths.directory);
    mounted.layer.close();
    closeSync(mounted.lock);
  }

  #leave(): void {
    this.#users--;
    if (this.#users > 0) return;
    this.#becameFree();
    this.#releaseLater();
  }

  #releaseLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#users === 0 && this.#commands.size === 0 && !this.#alone) void this.release();
    }, RELEASE_MS).unref();
  }

  async #open(): Promise<Mounted> {
    if (this.#isRemoved) throw new LayerError('unknown', `the change ${this.name} has ended`);
    if (this.#mounted) return this.#mounted;
    this.#mounting ??= this.#mountNow().finally(() => (this.#mounting = undefined));
    return await this.#mounting;
  }

  async #mountNow(): Promise<Mounted> {
    const { upper, work, pins, whiteout, moved } = this.paths;
    const lock = openSync(this.paths.lock, 'r+');
    try {
      const movedBytes = statSync(moved).size;
      const layer = await this.#mount({ workspace: this.workspace, upper, work, pins, whiteout, lock });
      this.#mounted = { layer, lock, kept: new Map(), movedBytes, refreshedAt: performance.now() };
      mountedLayers.set(this.paths.directory, this);
      return this.#mounted;
    } catch (error) {
      closeSync(lock);
      throw error;
    }
  }

  async #refreshIfMoved(mounted: Mounted): Promise<void> {
    const movedBytes = statSync(this.paths.moved).size;
    if (movedBytes === mounted.movedBytes && performance.now() - mounted.refreshedAt < STALE_MS) return;
    mounted.refreshedAt = performance.now();
    await mounted.layer.refresh();
    mounted.movedBytes = movedBytes;
  }
}

/** One directory of a change during the walk, open in every layer that has it. */
import { lstatSync, type BigIntStats } from 'node:fs';

import { HostError } from '../../host-error.ts';
import type { JailDir } from '../../jail/jail-dir.ts';
import { pathInside } from '../../jail/pin.ts';
import { isGone } from '../../walk/walk.ts';
import type { ByteString } from '../../text/byte-string.ts';
import type { EntryType, LayerEntry, LayerJails, LayerName, TouchedPath } from './touched-paths.ts';

/** One name below a layer; the same as of a touched path. */
export type NameStates = Pick<TouchedPath, 'base' | 'theirs' | 'isPinned'>;

const LAYERS = ['upper', 'view', 'pins', 'live'] as const;

export class LayeredDir {
  readonly path: string;
  readonly #dirs: Partial<Record<LayerName, JailDir>>;
  /** Whether the live directory is part of the base: no pin hides it. */
  readonly isBased: boolean;
  /** Cache of the last lookup: the walk repeats it several times before the next name. */
  #last: { name: ByteString; entries: Partial<Record<LayerName, LayerEntry | undefined>> } | undefined;

  private constructor(path: string, dirs: Partial<Record<LayerName, JailDir>>, isBased: boolean) {
    this.path = path;
    this.#dirs = dirs;
    this.isBased = isBased;
  }

  static root(jails: LayerJails): LayeredDir {
    const dirs: Partial<Record<LayerName, JailDir>> = {};
    for (const layer of LAYERS) dirs[layer] = jails[layer].openDir('.');
    return new LayeredDir('', dirs, true);
  }

  /** The subdirectory of this name, in each layer that has one. */
  down(name: ByteString): LayeredDir {
    const pin = this.entryAt('pins', name);
    const dirs: Partial<Record<LayerName, JailDir>> = {};
    for (const layer of LAYERS) {
      const dir = this.entryAt(layer, name)?.type === 'directory' ? this.#open(layer, name) : undefined;
      if (dir) dirs[layer] = dir;
    }
    const isBased = this.isBased && (!pin || pin.type === 'directory');
    return new LayeredDir(pathInside(this.path, name), dirs, isBased);
  }

  has(layer: LayerName): boolean {
    return this.#dirs[layer] !== undefined;
  }

  names(layer: LayerName): ByteString[] {
    const dir = this.#dirs[layer];
    return dir ? [...dir.allNames()].flat().sort() : [];
  }

  /** The entry in one layer. */
  entryAt(layer: LayerName, name: ByteString): LayerEntry | undefined {
    if (this.#last?.name !== name) this.#last = { name, entries: {} };
    const { entries } = this.#last;
    return layer in entries ? entries[layer] : (entries[layer] = this.#readEntry(layer, name));
  }

  #readEntry(layer: LayerName, name: ByteString): LayerEntry | undefined {
    const dir = this.#dirs[layer];
    if (!dir) return undefined;
    const stat = lstatSync(dir.pin.at(name), { bigint: true, throwIfNoEntry: false });
    dir.pin.recheck();
    return stat && { type: typeOf(stat), in: layer, stat };
  }

  /** Entry below the layer at a name: when the change began, as far as it is known, and in the workspace now. */
  below(name: ByteString): NameStates {
    const pin = this.entryAt('pins', name);
    const theirs = this.entryAt('live', name);
    const isPinned = pin ? pin.type !== 'directory' : !this.isBased;
    if (pin && isWhiteout(pin)) return { base: undefined, theirs, isPinned };
    const live = this.isBased ? theirs : undefined;
    // A pin's directory is a placeholder, so the mode comes from the workspace.
    const isBoth = pin?.type === 'directory' && live?.type === 'directory';
    return { base: isBoth ? live : (pin ?? live), theirs, isPinned };
  }

  /** Whether the view shows a workspace entry whose name is not in `names`; tests only the first such name. */
  showsOther(names: ReadonlySet<ByteString>): boolean {
    const { live } = this.#dirs;
    if (!live || !this.isBased) return false;
    for (const batch of live.allNames()) {
      for (const name of batch) if (!names.has(name)) return this.entryAt('view', name) !== undefined;
    }
    return false;
  }

  /** Names that may be in the base: a whiteout of the pins is one too. */
  namesBelow(): ByteString[] {
    return [...new Set([...this.names('pins'), ...(this.isBased ? this.names('live') : [])])].sort();
  }

  [Symbol.dispose](): void {
    for (const dir of Object.values(this.#dirs)) dir.close();
  }

  #open(layer: LayerName, name: ByteString): JailDir | undefined {
    try {
      return this.#dirs[layer]!.openDir(name);
    } catch (error) {
      // A command or another program removed or replaced it since.
      if (error instanceof HostError && isGone(error.reason)) return undefined;
      throw error;
    }
  }
}

function typeOf(stat: BigIntStats): EntryType {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'link' : 'special';
}

/** The mark of overlayfs for a deleted name: a character device 0:0. */
export function isWhiteout({ stat }: LayerEntry): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n;
}

/**
 * Finds the paths that a change touched, by walking its upper directory only: the cost does not grow with the workspace.
 *
 * A directory that exists in the base too is compared by names with the view, which finds a directory that was removed
 * and made again (overlayfs marks it by an attribute that Node cannot read). A new directory is walked in the view: the
 * children of a renamed directory are not in upper.
 */
import { isTempName } from '../../changes/atomic-write-temp.ts';
import { pathInside } from '../../jail/pin.ts';
import { Turns } from '../../search/turns.ts';
import { toBytes, toText, type ByteString } from '../../text/byte-string.ts';
import { MAX_DEPTH } from '../../walk/walk.ts';
import { isWhiteout, LayeredDir, type NameStates } from './layered-dir.ts';
import {
  TooManyFiles,
  type LayerEntry,
  type LayerJails,
  type LayerWalk,
  type LeftOut,
  type LeftOutWhy,
  type NewTree,
  type TouchedPath,
} from './touched-paths.ts';

export interface WalkOptions {
  /** Canonical paths that no function may read or write. */
  readonly isProtected: (path: string) => boolean;
  readonly maxFiles: number;
  readonly signal: AbortSignal;
}

/** A new directory with more files is one row. */
const MAX_SINGLE_FILES = 200;

const TURN_MS = 5;

export async function walkLayer(jails: LayerJails, options: WalkOptions): Promise<LayerWalk> {
  const walk = new Walk(options);
  using root = LayeredDir.root(jails);
  await walk.into(root, 1);
  return walk;
}

class Walk implements LayerWalk {
  readonly touched: TouchedPath[] = [];
  readonly trees: NewTree[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly goneDirectories: string[] = [];
  readonly gitDirectories: string[] = [];
  readonly #options: WalkOptions;
  readonly #turns: Turns;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#turns = new Turns(options.signal, TURN_MS);
  }

  /** A directory of upper that is a directory in the base too. */
  async into(dir: LayeredDir, depth: number): Promise<void> {
    const names = dir.names('upper');
    for (const name of names) {
      const upper = dir.entryAt('upper', name);
      if (upper && this.#isTaken(dir, name, upper)) await this.#entry(dir, name, upper, depth);
      if (this.#turns.isOver) await this.#turns.next();
    }
    await this.#hidden(dir, new Set(names));
  }

  async #entry(dir: LayeredDir, name: ByteString, upper: LayerEntry, depth: number): Promise<void> {
    const below = dir.below(name);
    const { base } = below;
    if (isWhiteout(upper)) return base && this.#gone(dir, name, below);
    if (upper.type !== 'directory') {
      if (base?.type === 'directory') await this.#gone(dir, name, below);
      this.#put({ path: pathInside(dir.path, name), ...below, mine: upper });
      return;
    }
    if (base && base.type !== 'directory') await this.#gone(dir, name, below);
    if (depth > MAX_DEPTH) return;
    using inner = dir.down(name);
    if (base?.type !== 'directory') return await this.#newTree(inner, name, dir, depth);
    if (isModeChanged(base, upper)) this.#put({ path: inner.path, ...below, mine: upper });
    await this.into(inner, depth + 1);
  }

  /** Names of the base that neither upper nor the view has: the directory was removed and made again. */
  async #hidden(dir: LayeredDir, inUpper: ReadonlySet<ByteString>): Promise<void> {
    // One visible name is enough: a directory that was made again shows none, and names missing in the base are hidden.
    if (!dir.has('view') || dir.showsOther(inUpper)) return;
    const names = dir.namesBelow().filter((name) => !inUpper.has(name));
    if (names.some((name) => dir.entryAt('view', name))) return;
    for (const name of names) {
      const below = dir.below(name);
      if (below.base && this.#isTaken(dir, name, below.base)) await this.#gone(dir, name, below);
    }
  }

  /** The base entry is deleted, with everything below. */
  async #gone(dir: LayeredDir, name: ByteString, below: NameStates): Promise<void> {
    if (this.#turns.isOver) await this.#turns.next();
    const one: TouchedPath = { path: pathInside(dir.path, name), ...below, mine: undefined };
    if (below.base!.type !== 'directory') return this.#put(one);
    using inner = dir.down(name);
    this.goneDirectories.push(inner.path);
    let isEmpty = true;
    for (const innerName of inner.namesBelow()) {
      const innerBelow = inner.below(innerName);
      if (!innerBelow.base) continue;
      isEmpty = false;
      if (this.#isTaken(inner, innerName, innerBelow.base)) await this.#gone(inner, innerName, innerBelow);
    }
    if (isEmpty) this.#put(one);
  }

  async #newTree(dir: LayeredDir, name: ByteString, above: LayeredDir, depth: number): Promise<void> {
    const leftOut = this.leftOut.length;
    const found: TouchedPath[] = [];
    const counted = { files: 0, bytes: 0, isInUpper: true };
    found.push({ ...this.#states(above, name), mine: above.entryAt('upper', name)! });
    await this.#added(dir, found, counted, depth);
    const isFree = !above.entryAt('live', name);
    if (counted.files > MAX_SINGLE_FILES && counted.isInUpper && isFree) {
      const isWhole = this.leftOut.length === leftOut;
      this.trees.push({ path: dir.path, files: counted.files, bytes: counted.bytes, isWhole, entries: found });
    } else {
      for (const one of found) this.#put(one);
    }
  }

  /** Everything in a directory that is not in the base; `dir` is that directory. */
  async #added(
    dir: LayeredDir,
    found: TouchedPath[],
    counted: { files: number; bytes: number; isInUpper: boolean },
    depth: number,
  ): Promise<void> {
    for (const name of dir.names('view')) {
      if (this.#turns.isOver) await this.#turns.next();
      const seen = dir.entryAt('view', name);
      if (!seen || !this.#isTaken(dir, name, seen)) continue;
      const upper = dir.entryAt('upper', name);
      const isInUpper = upper !== undefined && upper.type === seen.type;
      const mine = isInUpper ? upper : seen;
      counted.isInUpper &&= isInUpper;
      found.push({ ...this.#states(dir, name), mine, ...(!isInUpper && { isMoved: true }) });
      if (found.length > this.#options.maxFiles) throw new TooManyFiles(this.#options.maxFiles);
      if (seen.type === 'directory') {
        if (depth > MAX_DEPTH) continue;
        using inner = dir.down(name);
        await this.#added(inner, found, counted, depth + 1);
      } else {
        counted.files++;
        counted.bytes += Number(mine.stat.size);
      }
    }
  }

  #put(one: TouchedPath): void {
    if (this.touched.push(one) > this.#options.maxFiles) throw new TooManyFiles(this.#options.maxFiles);
  }

  #states(dir: LayeredDir, name: ByteString): Omit<TouchedPath, 'mine'> {
    const path = pathInside(dir.path, name);
    return { path, ...dir.below(name) };
  }

  /** Notes a path that is left out; false for that and for files of writes under way. */
  #isTaken(dir: LayeredDir, name: ByteString, entry: LayerEntry): boolean {
    if (isTempName(name)) return false;
    const path = pathInside(dir.path, name);
    if (name === '.git' && entry.type === 'directory') {
      this.gitDirectories.push(path);
      return false;
    }
    const why = this.#refusal(path, name, entry);
    if (why) this.leftOut.push({ path, why });
    return why === undefined;
  }

  #refusal(path: string, name: ByteString, entry: LayerEntry): LeftOutWhy | undefined {
    if (toBytes(toText(name)) !== name) return 'name';
    if (name === '.git') return 'git';
    if (this.#options.isProtected(path)) return 'protected';
    return entry.type === 'special' && !isWhiteout(entry) ? 'special' : undefined;
  }
}

function isModeChanged(a: LayerEntry, b: LayerEntry): boolean {
  return ((a.stat.mode ^ b.stat.mode) & 0o7777n) !== 0n;
}

/**
 * Applies one image layer to the tree below it: adds files, and removes those that the layer hides.
 *
 * A layer hides with whiteouts among its entries, `.wh.<name>` for one name and `.wh..wh..opq` for all contents of a
 * directory. Whiteouts apply to the layers below only, wherever in the layer they are. Extended attributes are not
 * kept.
 */
import { setImmediate as othersTurn } from 'node:timers/promises';

import { ArchiveError } from './archive-error.ts';
import type { ArchiveLimits } from './archive-limits.ts';
import { checkText, pathOf } from './entry-path.ts';
import type { TarHeader } from './tar-header.ts';
import { readTar, type TarEntry } from './tar-reader.ts';
import type { TreeWriter } from './tree-writer.ts';

const HIDDEN = '.wh.';
const ALL_HIDDEN = '.wh..wh..opq';

/** Entries are written synchronously, which is fastest. After this long it yields to the event loop. */
const TURN_MS = 10;

/** Largest uid or gid of the system. */
const MAX_ID = 0xffff_fffe;

/** How much an image has used of its limits; shared by its layers. */
export class ArchiveBudget {
  readonly limits: ArchiveLimits;
  bytes = 0;
  entries = 0;
  /** Device nodes and FIFOs, which are skipped. */
  skipped = 0;

  constructor(limits: ArchiveLimits) {
    this.limits = limits;
  }

  /** Counts the stream, and throws when the image exceeds its limits. */
  async *count(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      this.bytes += piece.length;
      if (this.bytes > this.limits.totalBytes) throw tooLarge('unpacked', this.bytes, this.limits.totalBytes);
      yield piece;
    }
  }

  countEntry({ name, size }: TarHeader): void {
    if (++this.entries > this.limits.entries) {
      throw new ArchiveError(`the archive has more than ${this.limits.entries} entries`);
    }
    if (size > this.limits.fileBytes) throw tooLarge(name, size, this.limits.fileBytes);
  }
}

export interface LayerOptions {
  /** The new name of an entry; undefined skips it. */
  rename?: (name: string) => string | undefined;
  signal?: AbortSignal;
}

/** `tar` is the decompressed layer. */
export async function applyLayer(
  tree: TreeWriter,
  tar: AsyncIterable<Uint8Array>,
  budget: ArchiveBudget,
  { rename = (name) => name, signal }: LayerOptions = {},
): Promise<void> {
  const layer = new Layer(tree, budget);
  let turnMs = performance.now();
  for await (const entry of readTar(budget.count(tar))) {
    if (performance.now() - turnMs > TURN_MS) {
      await othersTurn();
      turnMs = performance.now();
    }
    signal?.throwIfAborted();
    budget.countEntry(entry.header);
    const path = rename(pathOf(entry.header.name, budget.limits.depth));
    if (path !== undefined) await layer.apply(path, entry);
  }
}

class Layer {
  readonly #tree: TreeWriter;
  readonly #budget: ArchiveBudget;
  /** Paths that this layer wrote, with all parents. */
  readonly #own = new Set<string>();

  constructor(tree: TreeWriter, budget: ArchiveBudget) {
    this.#tree = tree;
    this.#budget = budget;
  }

  async apply(path: string, { header, body }: TarEntry): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (name.startsWith(HIDDEN)) return this.#hide(path, name);
    if (path === '' && header.type !== 'directory')
      throw new ArchiveError(
        `"${header.name}" names the root of the image, but is a ${header.type} and not a directory`,
      );

    checkOwner(header);
    const resolved = path === '' ? '' : this.#tree.resolve(path);
    await this.#put(resolved, header, body);
    this.#claim(resolved);
  }

  async #put(resolved: string, header: TarHeader, body: TarEntry['body']): Promise<void> {
    switch (header.type) {
      case 'directory':
        return this.#tree.directory(resolved, header);
      case 'file':
        return this.#tree.file(resolved, header, body());
      case 'symlink':
        checkText(header.linkName);
        if (header.linkName === '') throw new ArchiveError(`${header.name} is a symlink with an empty target`);
        return this.#tree.symlink(resolved, header.linkName, header);
      case 'link':
        return this.#tree.link(
          resolved,
          this.#tree.resolve(pathOf(header.linkName, this.#budget.limits.depth)),
          header,
        );
      case 'device':
      case 'fifo':
        this.#budget.skipped++;
        return this.#tree.remove(resolved);
      default:
        throw new ArchiveError(`${header.name} is of the tar type "${header.flag}", which has no place in an image`);
    }
  }

  #hide(path: string, name: string): void {
    const resolved = this.#tree.resolve(path);
    const parent = resolved.slice(0, Math.max(resolved.lastIndexOf('/'), 0));
    if (name === ALL_HIDDEN) return this.#hideAll(parent);
    // Other names of this form are aufs metadata.
    if (name.startsWith('.wh..wh.')) return;

    const hidden = name.slice(HIDDEN.length);
    if (hidden === '' || hidden === '.' || hidden === '..')
      throw new ArchiveError(`${path} is a whiteout without a valid name`);
    const target = parent === '' ? hidden : `${parent}/${hidden}`;
    if (!this.#own.has(target)) this.#tree.remove(target);
  }

  #hideAll(directory: string): void {
    for (const name of this.#tree.names(directory)) {
      const path = directory === '' ? name : `${directory}/${name}`;
      if (!this.#own.has(path)) this.#tree.remove(path);
      else if (this.#tree.stat(path)?.isDirectory()) this.#hideAll(path);
    }
  }

  #claim(resolved: string): void {
    for (let path = resolved; !this.#own.has(path); path = path.slice(0, Math.max(path.lastIndexOf('/'), 0))) {
      this.#own.add(path);
    }
  }
}

function checkOwner({ name, uid, gid }: TarHeader): void {
  if (uid >= 0 && uid <= MAX_ID && gid >= 0 && gid <= MAX_ID) return;
  throw new ArchiveError(`${name} belongs to ${uid}:${gid}, which is not a valid owner`);
}

function tooLarge(what: string, bytes: number, limit: number): ArchiveError {
  return new ArchiveError(`${what} is ${bytes} bytes; the limit is ${limit}`);
}

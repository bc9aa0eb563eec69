/**
 * The files of a patch in memory, as its sections change them one after the other before anything is written.
 *
 * A file has one state, however the sections spell its path.
 */
import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';

import { HostError, NOTHING_THERE, versionAside, type JailEntry } from '#host';
import { errors } from '../errors.ts';
import { readCurrent } from '../line-edits-current.ts';
import type { CoderContext } from '../worker.ts';

/** Total size of the files of a patch: all contents are in memory until the write set is written. */
const MAX_KEPT_BYTES = 1 << 28;

/** State of one path after the sections so far. */
export interface FileState {
  /** The path as the patch first spells it. */
  readonly path: string;
  isThere: boolean;
  isLink: boolean;
  /** Path on the disk that has its content, unless `made` is set. */
  onDisk?: string;
  /** New content. */
  made?: Buffer;
  /** Stat from before the patch. */
  readonly stat: Stats | undefined;
  /** Content before the patch, once it was read. */
  before?: Buffer;
  /** Version of the file on the disk, once it was read and until a section changes it. */
  version?: string | undefined;
  isTouched: boolean;
}

/** Expected versions by path, and `fix`, which returns the request with another expected version. */
export interface Expected {
  readonly versions: ReadonlyMap<string, string>;
  readonly fix: (path: string, version: string) => Record<string, unknown>;
}

export class FileStates {
  readonly #context: CoderContext;
  readonly #expected: Expected;
  readonly #states = new Map<string, FileState>();
  #hasRemovedLink = false;
  #keptBytes = 0;

  constructor(context: CoderContext, expected: Expected) {
    this.#context = context;
    this.#expected = expected;
  }

  /** State of the file that a write to the path changes, symlinks followed. */
  async target(path: string): Promise<FileState> {
    const free = this.#hasRemovedLink ? await this.entry(path) : undefined;
    if (free && !free.isThere) return free;

    using entry = this.#context.jail.target(path);
    return await this.#stateOf(entry);
  }

  /** State of the path itself; a symlink at its end is not followed. */
  async entry(path: string): Promise<FileState> {
    using entry = this.#context.jail.entry(path);
    return await this.#stateOf(entry);
  }

  /** Returns the content after the sections so far; throws C210 if it is not UTF-8. */
  async read(state: FileState): Promise<Buffer> {
    const bytes = state.made ?? (await this.#load(state));
    if (!isUtf8(bytes)) throw errors.fail('C210', { problem: `${state.path} is not UTF-8 text` });
    return bytes;
  }

  /** Sets the new content. */
  put(state: FileState, bytes: Buffer): void {
    const { maxWriteBytes: limit } = this.#context;
    const facts = { path: state.path, size: bytes.length, limit, key: 'max_write_bytes' };
    if (bytes.length > limit) throw errors.fail('C213', facts);
    this.#hold(bytes.length);
    state.isThere = true;
    state.isLink = false;
    state.made = bytes;
  }

  remove(state: FileState): void {
    this.#hasRemovedLink ||= state.isLink;
    Object.assign(state, { isThere: false, isLink: false, made: undefined, onDisk: undefined });
  }

  move(state: FileState, destination: FileState): void {
    if (destination === state) return;
    Object.assign(destination, { isThere: true, isLink: false, made: state.made, onDisk: state.onDisk });
    this.remove(state);
  }

  async #stateOf(entry: JailEntry): Promise<FileState> {
    const key = this.#context.jail.keyOf(entry);
    const known = this.#states.get(key);
    if (known) return known;

    const { path, stat } = entry;
    const isLink = stat?.isSymbolicLink() === true;
    if (stat && !stat.isFile() && !isLink) throw new HostError('not-a-file', path);
    const state: FileState = { path, stat, isThere: stat !== undefined, isLink, isTouched: false };
    if (stat) state.onDisk = path;
    this.#states.set(key, state);
    if (stat?.isFile() && this.#expected.versions.has(path)) await this.#readEntry(entry, state);
    if (!stat) this.#requireAbsent(path);
    return state;
  }

  #requireAbsent(path: string): void {
    const expected = this.#expected.versions.get(path) ?? NOTHING_THERE;
    if (expected === NOTHING_THERE) return;
    const fix = this.#expected.fix(path, NOTHING_THERE);
    throw errors.fail('C221', { path, expected, actual: NOTHING_THERE, fix });
  }

  async #load(state: FileState): Promise<Buffer> {
    if (!state.isThere || state.onDisk === undefined) throw new HostError('missing', state.path);
    if (state.before && !state.isTouched) return state.before;
    using entry = this.#context.jail.target(state.onDisk);
    return await this.#readEntry(entry, state);
  }

  async #readEntry(entry: JailEntry, state: FileState): Promise<Buffer> {
    this.#hold(entry.stat?.size ?? 0);
    const limit = { bytes: this.#context.maxWriteBytes, key: 'max_write_bytes' } as const;
    const bytes = await readCurrent(entry, limit, {
      version: this.#expected.versions.get(entry.path),
      fix: (version) => this.#expected.fix(entry.path, version),
    });
    if (!state.isTouched) Object.assign(state, { before: bytes, version: await versionAside(bytes) });
    return bytes;
  }

  #hold(bytes: number): void {
    this.#keptBytes += bytes;
    if (this.#keptBytes <= MAX_KEPT_BYTES) return;
    const problem = `the files of the patch hold more than ${MAX_KEPT_BYTES} bytes together; send several patches`;
    throw errors.fail('C210', { problem });
  }
}

/**
 * A guest's files, with a report of each change to the call that wants one.
 *
 * The agent does not compare files, so a file is read before it is changed, and only for a call that wants the report. A
 * change of a tree that fails is reported by the entries that are gone or have other permissions now.
 */
import {
  ComparablePieces,
  contentChange,
  isComparable,
  MAX_COMPARED_BYTES,
  removal,
  type ChangedEntry,
  type ChangeMode,
} from '#host';
import { GuestError } from './guest-error.ts';
import { GuestFiles, type ChangeScope, type WriteOptions } from './guest-files.ts';
import type { Row } from './guest-rows.ts';

/** Most entries of a tree that are stat'ed again after a failed change; a call reports no more. */
const MAX_ENTRIES = 100;

const MAX_DEPTH = 512;

export class ReportingGuestFiles extends GuestFiles {
  override async write(
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    options: WriteOptions,
    scope: ChangeScope,
  ): Promise<number> {
    const { noteChange } = scope;
    if (!noteChange) return super.write(path, bytes, options, scope);

    const file = await this.#entryAt(path, scope, { isFollowed: true });
    const before = await this.#content(file, scope);
    const kept = new ComparablePieces();
    const size = await super.write(path, kept.of(bytes), options, scope);
    const change = contentChange(file, before, kept.all);
    if (change) noteChange(change);
    return size;
  }

  override async mkdir(path: string, options: { mode: number; parents: boolean } & ChangeScope): Promise<boolean> {
    const isNew = await super.mkdir(path, options);
    if (isNew) options.noteChange?.({ path, kind: 'created', is_directory: true });
    return isNew;
  }

  override async remove(path: string, options: { recursive: boolean } & ChangeScope): Promise<void> {
    const { noteChange } = options;
    if (!noteChange) return super.remove(path, options);

    const entry = await this.#entryAt(path, options);
    const before = await this.#content(entry, options);
    await this.#wholeOrPart(path, options, () => super.remove(path, options));
    noteChange(removal(entry, before));
  }

  override async chmod(path: string, options: ChangeMode & ChangeScope): Promise<number> {
    const count = await this.#wholeOrPart(path, options, () => super.chmod(path, options));
    options.noteChange?.({ path, kind: 'mode' });
    return count;
  }

  override async rename(from: string, to: string, options: { overwrite: boolean } & ChangeScope): Promise<void> {
    const isDirectory = options.noteChange && (await this.#entryAt(from, options)).stat?.isDirectory();
    await super.rename(from, to, options);
    options.noteChange?.({ path: to, kind: 'renamed', from, ...(isDirectory && { is_directory: true }) });
  }

  /** Reports which entries of a tree were changed when not all of them were. */
  async #wholeOrPart<T>(
    path: string,
    options: { recursive: boolean } & ChangeScope,
    work: () => Promise<T>,
  ): Promise<T> {
    const entries = options.noteChange && options.recursive ? await this.#below(path, options) : [];
    try {
      return await work();
    } catch (error) {
      if (error instanceof GuestError) for (const row of entries) await this.#reportIfChanged(path, row, options);
      throw error;
    }
  }

  async #below(path: string, scope: ChangeScope): Promise<Row[]> {
    const found: Row[] = [];
    try {
      for await (const rows of this.walk(path, { maxDepth: MAX_DEPTH, signal: scope.signal })) {
        found.push(...rows);
        if (found.length >= MAX_ENTRIES) break;
      }
    } catch (error) {
      passGuestError(error);
    }
    return found.slice(0, MAX_ENTRIES).filter(({ kind }) => kind !== 'unreadable');
  }

  async #reportIfChanged(top: string, row: Row, { signal, noteChange }: ChangeScope): Promise<void> {
    const path = `${top.replace(/\/+$/, '')}/${row.name}`;
    const now = await this.stat(path, { signal }).catch(passGuestError);
    const isDirectory = row.kind === 'directory' && { is_directory: true };
    if (!now) noteChange?.({ path, kind: 'deleted', ...isDirectory });
    else if (now.mode !== row.mode || now.uid !== row.uid || now.gid !== row.gid) noteChange?.({ path, kind: 'mode' });
  }

  async #entryAt(path: string, { signal }: ChangeScope, how: { isFollowed?: boolean } = {}): Promise<ChangedEntry> {
    const row = await this.stat(path, { ...how, signal }).catch(passGuestError);
    const is = (kind: Row['kind']) => () => row?.kind === kind;
    return { path, stat: row && { size: row.sizeBytes, isFile: is('file'), isDirectory: is('directory') } };
  }

  async #content({ path, stat }: ChangedEntry, { signal }: ChangeScope): Promise<Uint8Array | undefined> {
    if (!isComparable(stat)) return undefined;
    for await (const { content } of this.readMany([path], { maxBytes: MAX_COMPARED_BYTES, signal })) {
      return content instanceof GuestError ? undefined : content;
    }
  }
}

/** Leaves out of the report files that the guest refuses to show. */
function passGuestError(error: unknown): undefined {
  if (!(error instanceof GuestError)) throw error;
}

/**
 * Copies of files and trees inside a jail.
 *
 * The whole source is checked before anything is written, so that a copy is not refused halfway. A directory copied to a
 * free path is written under a temporary name and renamed at the end; one copied over another directory is merged into
 * it file by file. Both sides are kept open, directory by directory, and symlinks are copied as symlinks.
 */
import { mkdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';

import { sweepOnce, tempName } from './atomic-write-temp.ts';
import { PendingFile } from './atomic-write.ts';
import type { Attributed } from './attribute-calls.ts';
import { toText, type ByteString } from '../text/byte-string.ts';
import { accessOf, isList, setAttributes, type FileAccess } from './file-access.ts';
import type { Keeper } from './change-recorder.ts';
import { cancelling } from './recorded-change.ts';
import { lookedAt } from '../journal/open-record.ts';
import type { State } from '../journal/records.ts';
import type { SetEntry, SetOutcome } from '../journal/set-entry.ts';
import { isUnlinkable, type ImageStore } from '../journal/store.ts';
import { sumBelow } from './tree-sum.ts';
import { HostError } from '../host-error.ts';
import type { JailDir } from '../jail/jail-dir.ts';
import { JailEntry } from '../jail/jail-entry.ts';
import type { JailFile } from '../jail/jail-file.ts';
import { visitBelow, type ListedEntry } from '../jail/jail-list.ts';
import { removeMade } from './jail-remove.ts';
import type { NoteChange } from './note-change.ts';
import { openJail, type Jail } from '../jail/jail.ts';
import { applyPermissions } from './permissions.ts';
import { piecesOf } from '../text/read-pieces.ts';

export interface CopyOptions {
  readonly overwrite: boolean;
  readonly isSynced: boolean;
  readonly signal: AbortSignal;
  /** Throws for a file that must not be copied. */
  readonly refuse: (relativePath: string, sizeBytes: number) => void;
  /** Receives a report of each entry that is copied into a directory under its final name. */
  readonly notePart?: NoteChange;
  /** Receives notes for the caller about replaced files. */
  readonly addNote?: ((note: string) => void) | undefined;
  readonly keeper?: Keeper;
  /** Writes a copy over another directory, all or nothing; file by file if undefined. */
  readonly writeSet?: (entries: readonly SetEntry[]) => Promise<SetOutcome>;
  /** Copies times and special bits too, to keep or restore a directory. */
  readonly isExact?: boolean;
}

/** Without setuid, setgid and sticky bits: the copy may have another owner. */
const COPIED_BITS = 0o777;
/** Mode of a directory while it is filled. */
const OWNER_BITS = 0o700;

const ITSELF = '.' as ByteString;

/** Copies the file or directory that `from` resolves to, symlinks followed, to `place`. */
export async function copyTo(jail: Jail, from: string, place: JailEntry, options: CopyOptions): Promise<void> {
  using source = jail.target(from);
  if (!source.stat) throw new HostError('missing', from);
  if (place.stat && !options.overwrite) throw new HostError('exists', place.path);
  if (!source.stat.isDirectory()) {
    using file = jail.open(from);
    return await copyFile(file, place, options);
  }

  using dir = jail.openDir(from);
  if (place.stat && !place.stat.isDirectory()) throw new HostError('not-a-directory', place.path);
  await inspect(jail, dir, place, options);
  if (!place.stat) return await copyNew(dir, place, options);

  await copyOver(jail, dir, place, options);
}

/** Copies over another directory: to a temporary directory in it first, whose files one write set then renames. */
async function copyOver(jail: Jail, dir: JailDir, place: JailEntry, options: CopyOptions): Promise<void> {
  using into = place.openDir();
  if (!options.writeSet) return await fill(dir, into, place.path, options);

  const name = tempName();
  entryIn(into, name, place.path).act((at) => mkdirSync(at, OWNER_BITS));
  const made = entryIn(into, name, place.path);
  try {
    await copyInto(dir, made, { ...options, keeper: undefined, notePart: undefined });
    using copied = made.openDir();
    const { changes } = await options.writeSet(await puttingInPlace(jail, copied, place, options));
    for (const { path, note } of changes) if (note !== undefined) options.addNote?.(`${path}: ${note}`);
  } finally {
    await removeMade(made);
  }
}

async function puttingInPlace(
  jail: Jail,
  copied: JailDir,
  place: JailEntry,
  scope: { readonly signal: AbortSignal },
): Promise<SetEntry[]> {
  const entries: SetEntry[] = [];
  await visitBelow(copied, scope, (dir, { name, kind }) => {
    const relativePath = dir.pathOf(name);
    const rest = relativePath.slice(copied.relativePath.length);
    const path = jail.spell({ relativePath: place.relativePath + (place.relativePath === '' ? rest.slice(1) : rest) });
    using there = jail.entry(path);
    if (kind !== 'directory') entries.push({ kind: 'adopt', path, made: jail.spell({ relativePath }) });
    else if (!there.stat)
      entries.push({ kind: 'restore', path, state: { kind: 'directory', mode: dir.look(name)!.mode & COPIED_BITS } });
    else if (!there.stat.isDirectory()) throw new HostError('not-a-directory', path);
    return 'go-on';
  });
  return entries;
}

/** Throws for the first entry that cannot be copied. Hidden entries are not listed and not copied. */
async function inspect(jail: Jail, top: JailDir, place: JailEntry, { signal, refuse }: CopyOptions): Promise<void> {
  const below = top.relativePath === '' ? 0 : top.relativePath.length + 1;
  await visitBelow(top, { signal }, (dir, { name, kind }) => {
    const path = dir.pathOf(name);
    for (const end of [path, `${place.relativePath}/${path.slice(below)}`]) {
      const refusal = jail.refusal(end);
      if (refusal) throw new HostError(refusal, end);
    }
    if (kind === 'other') throw new HostError('not-a-file', path);
    if (kind === 'file') refuse(path, dir.look(name)?.size ?? 0);
    return 'go-on';
  });
}

async function copyNew(dir: JailDir, place: JailEntry, options: CopyOptions): Promise<void> {
  await sweepOnce(place);
  const name = tempName();
  const temp = place.beside(name);
  temp.act((at) => mkdirSync(at, OWNER_BITS));
  const made = place.beside(name);
  try {
    await copyInto(dir, made, { ...options, keeper: undefined, notePart: undefined });
    const noted = await options.keeper?.put(place, await treeState(made, options));
    cancelling(noted, () => place.act((now) => temp.act((old) => renameSync(old, now))));
    if (options.isSynced) await place.syncDirectory();
  } catch (error) {
    await removeMade(made);
    throw error;
  }
}

/** Copies a directory to a free path or into another one. A new one has mode 0700 until it is filled: others cannot read it incomplete. */
async function copyDir(dir: JailDir, place: JailEntry, options: CopyOptions): Promise<void> {
  if (place.stat) {
    using into = place.openDir();
    return await fill(dir, into, place.path, options);
  }
  place.act((at) => mkdirSync(at, OWNER_BITS));
  options.notePart?.({ path: place.path, kind: 'created', is_directory: true });
  await copyInto(dir, place, options);
}

/** Copies into a directory that was just created. */
async function copyInto(dir: JailDir, place: JailEntry, options: CopyOptions): Promise<void> {
  const { mode, attributes } = copiedAccess(dir.pin.at(ITSELF), dir.stat.mode, place.path);
  using into = place.openDir();
  await fill(dir, into, place.path, options);
  if (attributes) setAttributes(into.pin.at(ITSELF), attributes, place.path);
  // Sets the mode by descriptor: another program may have put another directory at the path by now.
  applyPermissions(into.pin, { mode });
}

/** Copies the entries of `dir`; `path` is the path of `into` as the caller gave it. */
async function fill(dir: JailDir, into: JailDir, path: string, options: CopyOptions): Promise<void> {
  for (const entry of [...dir.entries()].flat()) {
    options.signal.throwIfAborted();
    await copyEntry(dir, entry, entryIn(into, entry.name, path), options);
  }
}

function entryIn(dir: JailDir, name: ByteString, path: string): JailEntry {
  return new JailEntry(dir.pin, [name], `${path}/${toText(name)}`, { isRoot: () => false });
}

async function copyEntry(dir: JailDir, { name, kind }: ListedEntry, place: JailEntry, options: CopyOptions) {
  if (kind === 'directory') {
    if (place.stat && !place.stat.isDirectory()) throw new HostError('not-a-directory', place.path);
    using inner = dir.openDir(name);
    await copyDir(inner, place, options);
  } else if (kind === 'symlink') {
    const leadsTo = dir.readLink(name);
    if (place.stat?.isDirectory()) throw new HostError('exists', place.path);
    if (place.stat) place.act(unlinkSync);
    place.act((at) => symlinkSync(leadsTo, at));
    notePut(place, options);
  } else {
    using file = dir.openFile(name);
    await copyFile(file, place, options);
    notePut(place, options);
  }
}

function notePut({ path, stat }: JailEntry, { notePart }: CopyOptions): void {
  notePart?.({ path, kind: stat ? 'modified' : 'created' });
}

async function copyFile(file: JailFile, place: JailEntry, options: CopyOptions): Promise<void> {
  const { isSynced, isExact, signal, keeper } = options;
  options.refuse(file.relativePath, file.size);
  using pending = await PendingFile.at(place, { isHashed: keeper !== undefined });
  for await (const piece of piecesOf(file, place.path)) {
    await pending.append(piece);
    signal.throwIfAborted();
  }
  const keep = keeper?.file(place, { version: () => pending.version });
  const access = isExact
    ? accessOf(file.fd, file.stat.mode, place.path)
    : copiedAccess(file.fd, file.stat.mode, place.path);
  const { note } = await pending.commit({ access, isSynced, keep, ...(isExact && { like: file.stat }) });
  if (note !== undefined) options.addNote?.(note);
}

async function treeState(made: JailEntry, scope: { readonly signal: AbortSignal }): Promise<State> {
  using dir = made.openDir();
  return { ...lookedAt(dir.stat), contents: await sumBelow(dir, scope) } as State;
}

/**
 * Moves a directory into the store of a journal. If that is on another device, copies it there and renames the original:
 * returns the temporary name, which the caller removes with `removeMade`.
 */
export async function takeTree(entry: JailEntry, store: ImageStore, name: string): Promise<ByteString | undefined> {
  if (store.take(entry, name)) return undefined;
  await copyTree(entry, store, name);
  const aside = tempName();
  entry.act((at) => entry.act((temp) => renameSync(at, temp), aside));
  return aside;
}

async function copyTree(entry: JailEntry, store: ImageStore, name: string): Promise<void> {
  const place = openJail(store.directory).entry(`trees/${name}`);
  using dir = entry.openDir();
  try {
    await copyNew(dir, place, EXACT);
  } finally {
    place.close();
  }
}

/** Restores a directory from the store of a journal to a free path. */
export async function bringTree(entry: JailEntry, store: ImageStore, name: string): Promise<void> {
  try {
    entry.act((at) => renameSync(store.pathOf('trees', name), at));
  } catch (error) {
    if (!isUnlinkable(error)) throw error;
    using dir = openJail(store.directory).openDir(`trees/${name}`);
    await copyNew(dir, entry, EXACT);
  }
}

const EXACT: CopyOptions = {
  overwrite: false,
  isSynced: false,
  isExact: true,
  signal: new AbortController().signal,
  refuse() {},
};

/** Copies only the ACL of the attributes: without it the group bits would grant too much. */
function copiedAccess(of: Attributed, mode: number, path: string): FileAccess {
  const { attributes, ...bits } = accessOf(of, mode & COPIED_BITS, path);
  return { ...bits, attributes: attributes?.filter(isList) };
}

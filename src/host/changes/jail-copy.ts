/**
 * Copies of files and trees inside a jail.
 *
 * Everything is looked at before anything is made, so that a copy is not refused half-way. A tree that goes where
 * nothing is grows under a name of its own and is then put there, whole or not at all; one that goes over another is
 * laid over it file by file. Both sides are held, directory by directory, and links are copied as links.
 */
import { mkdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';

import { sweepOnce, tempName } from './atomic-write-temp.ts';
import { PendingFile } from './atomic-write.ts';
import type { Attributed } from './attribute-calls.ts';
import { toText, type ByteString } from '../text/byte-string.ts';
import { accessOf, isList, setAttributes, type FileAccess } from './file-access.ts';
import { HostError } from '../host-error.ts';
import type { JailDir } from '../jail/jail-dir.ts';
import { JailEntry } from '../jail/jail-entry.ts';
import type { JailFile } from '../jail/jail-file.ts';
import { visitBelow, type ListedEntry } from '../jail/jail-list.ts';
import { removeMade } from './jail-remove.ts';
import type { NoteChange } from './note-change.ts';
import type { Jail } from '../jail/jail.ts';
import { applyPermissions } from './permissions.ts';
import { piecesOf } from '../text/read-pieces.ts';

export interface CopyOptions {
  readonly overwrite: boolean;
  readonly isSynced: boolean;
  readonly signal: AbortSignal;
  /** Throws for a file that must not be copied. */
  readonly refuse: (relativePath: string, sizeBytes: number) => void;
  /** Takes the report of each entry that is put into a directory which others see already. */
  readonly notePart?: NoteChange;
}

/** Special bits are not copied: they lend the rights of an owner that the copy does not have. */
const COPIED_BITS = 0o777;
/** What a directory needs while it is filled. */
const OWNER_BITS = 0o700;

const ITSELF = '.' as ByteString;

/** Copies what a path leads to, links followed, to a place. */
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

  using into = place.openDir();
  await fill(dir, into, place.path, options);
}

/** Throws for the first thing that cannot be copied. What is hidden is not there, and stays behind. */
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
    await copyInto(dir, made, { ...options, notePart: undefined });
    place.act((now) => temp.act((old) => renameSync(old, now)));
    if (options.isSynced) await place.syncDirectory();
  } catch (error) {
    await removeMade(made);
    throw error;
  }
}

/** To a place where nothing is, or a directory. Nobody else looks into a new one before it is whole. */
async function copyDir(dir: JailDir, place: JailEntry, options: CopyOptions): Promise<void> {
  if (place.stat) {
    using into = place.openDir();
    return await fill(dir, into, place.path, options);
  }
  place.act((at) => mkdirSync(at, OWNER_BITS));
  options.notePart?.({ path: place.path, kind: 'created', is_directory: true });
  await copyInto(dir, place, options);
}

/** To a directory that was just made. */
async function copyInto(dir: JailDir, place: JailEntry, options: CopyOptions): Promise<void> {
  const { mode, attributes } = copiedAccess(dir.pin.at(ITSELF), dir.stat.mode, place.path);
  using into = place.openDir();
  await fill(dir, into, place.path, options);
  if (attributes) setAttributes(into.pin.at(ITSELF), attributes, place.path);
  // Of the directory that was filled: at its place there may be another by now.
  applyPermissions(into.pin, { mode });
}

/** `path` is how the caller knows the directory that is filled. */
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

async function copyFile(file: JailFile, place: JailEntry, { isSynced, signal, refuse }: CopyOptions): Promise<void> {
  refuse(file.relativePath, file.size);
  using pending = await PendingFile.at(place);
  for await (const piece of piecesOf(file, place.path)) {
    await pending.append(piece);
    signal.throwIfAborted();
  }
  await pending.commit({ access: copiedAccess(file.fd, file.stat.mode, place.path), isSynced });
}

/** Of the attributes only the access list, without which the bits of the group would say too much. */
function copiedAccess(of: Attributed, mode: number, path: string): FileAccess {
  const { attributes, ...bits } = accessOf(of, mode & COPIED_BITS, path);
  return { ...bits, attributes: attributes?.filter(isList) };
}

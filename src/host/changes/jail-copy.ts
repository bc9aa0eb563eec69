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
import type { ChangeRecorder } from './change-recorder.ts';
import { cancelling } from './recorded-change.ts';
import { stateOfStat } from '../journal/open-record.ts';
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
  readonly recorder?: ChangeRecorder;
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

/** Copies the file or directory that `from` resolves to, symlinks followed, to `target`. */
export async function copyTo(jail: Jail, from: string, target: JailEntry, options: CopyOptions): Promise<void> {
  using source = jail.target(from);
  if (!source.stat) throw new HostError('missing', from);
  if (target.stat && !options.overwrite) throw new HostError('exists', target.path);
  if (!source.stat.isDirectory()) {
    using file = jail.open(from);
    return await copyFile(file, target, options);
  }

  using dir = jail.openDir(from);
  if (target.stat && !target.stat.isDirectory()) throw new HostError('not-a-directory', target.path);
  await inspect(jail, dir, target, options);
  if (!target.stat) return await copyNew(dir, target, options);

  await copyOver(jail, dir, target, options);
}

/** Copies over another directory: to a temporary directory in it first, whose files one write set then renames. */
async function copyOver(jail: Jail, dir: JailDir, target: JailEntry, options: CopyOptions): Promise<void> {
  using into = target.openDir();
  if (!options.writeSet) return await fill(dir, into, target.path, options);

  const name = tempName();
  entryIn(into, name, target.path).act((at) => mkdirSync(at, OWNER_BITS));
  const made = entryIn(into, name, target.path);
  try {
    await copyInto(dir, made, { ...options, recorder: undefined, notePart: undefined });
    using copied = made.openDir();
    const { changes } = await options.writeSet(await puttingInPlace(jail, copied, target, options));
    for (const { path, note } of changes) if (note !== undefined) options.addNote?.(`${path}: ${note}`);
  } finally {
    await removeMade(made);
  }
}

async function puttingInPlace(
  jail: Jail,
  copied: JailDir,
  target: JailEntry,
  scope: { readonly signal: AbortSignal },
): Promise<SetEntry[]> {
  const entries: SetEntry[] = [];
  await visitBelow(copied, scope, (dir, { name, kind }) => {
    const relativePath = dir.pathOf(name);
    const rest = relativePath.slice(copied.relativePath.length);
    const path = jail.spell({
      relativePath: target.relativePath + (target.relativePath === '' ? rest.slice(1) : rest),
    });
    using there = jail.entry(path);
    if (kind !== 'directory') entries.push({ kind: 'adopt', path, made: jail.spell({ relativePath }) });
    else if (!there.stat)
      entries.push({ kind: 'restore', path, state: { kind: 'directory', mode: dir.lstat(name)!.mode & COPIED_BITS } });
    else if (!there.stat.isDirectory()) throw new HostError('not-a-directory', path);
    return 'go-on';
  });
  return entries;
}

/** Throws for the first entry that cannot be copied. Hidden entries are not listed and not copied. */
async function inspect(jail: Jail, top: JailDir, target: JailEntry, { signal, refuse }: CopyOptions): Promise<void> {
  const below = top.relativePath === '' ? 0 : top.relativePath.length + 1;
  await visitBelow(top, { signal }, (dir, { name, kind }) => {
    const path = dir.pathOf(name);
    for (const end of [path, `${target.relativePath}/${path.slice(below)}`]) {
      const refusal = jail.refusal(end);
      if (refusal) throw new HostError(refusal, end);
    }
    if (kind === 'other') throw new HostError('not-a-file', path);
    if (kind === 'file') refuse(path, dir.lstat(name)?.size ?? 0);
    return 'go-on';
  });
}

async function copyNew(dir: JailDir, target: JailEntry, options: CopyOptions): Promise<void> {
  await sweepOnce(target);
  const name = tempName();
  const temp = target.beside(name);
  temp.act((at) => mkdirSync(at, OWNER_BITS));
  const made = target.beside(name);
  try {
    await copyInto(dir, made, { ...options, recorder: undefined, notePart: undefined });
    const recorded = await options.recorder?.put(target, await treeState(made, options));
    cancelling(recorded, () => target.act((now) => temp.act((old) => renameSync(old, now))));
    if (options.isSynced) await target.syncDirectory();
  } catch (error) {
    await removeMade(made);
    throw error;
  }
}

/** Copies a directory to a free path or into another one. A new one has mode 0700 until it is filled: others cannot read it incomplete. */
async function copyDir(dir: JailDir, target: JailEntry, options: CopyOptions): Promise<void> {
  if (target.stat) {
    using into = target.openDir();
    return await fill(dir, into, target.path, options);
  }
  target.act((at) => mkdirSync(at, OWNER_BITS));
  options.notePart?.({ path: target.path, kind: 'created', is_directory: true });
  await copyInto(dir, target, options);
}

/** Copies into a directory that was just created. */
async function copyInto(dir: JailDir, target: JailEntry, options: CopyOptions): Promise<void> {
  const { mode, attributes } = copiedAccess(dir.pin.at(ITSELF), dir.stat.mode, target.path);
  using into = target.openDir();
  await fill(dir, into, target.path, options);
  if (attributes) setAttributes(into.pin.at(ITSELF), attributes, target.path);
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

async function copyEntry(dir: JailDir, { name, kind }: ListedEntry, target: JailEntry, options: CopyOptions) {
  if (kind === 'directory') {
    if (target.stat && !target.stat.isDirectory()) throw new HostError('not-a-directory', target.path);
    using inner = dir.openDir(name);
    await copyDir(inner, target, options);
  } else if (kind === 'symlink') {
    const linkTarget = dir.readLink(name);
    if (target.stat?.isDirectory()) throw new HostError('exists', target.path);
    if (target.stat) target.act(unlinkSync);
    target.act((at) => symlinkSync(linkTarget, at));
    notePut(target, options);
  } else {
    using file = dir.openFile(name);
    await copyFile(file, target, options);
    notePut(target, options);
  }
}

function notePut({ path, stat }: JailEntry, { notePart }: CopyOptions): void {
  notePart?.({ path, kind: stat ? 'modified' : 'created' });
}

async function copyFile(file: JailFile, target: JailEntry, options: CopyOptions): Promise<void> {
  const { isSynced, isExact, signal, recorder } = options;
  options.refuse(file.relativePath, file.size);
  using pending = await PendingFile.at(target, { isHashed: recorder !== undefined });
  for await (const piece of piecesOf(file, target.path)) {
    await pending.append(piece);
    signal.throwIfAborted();
  }
  const recordFirst = recorder?.file(target, { version: () => pending.version });
  const access = isExact
    ? accessOf(file.fd, file.stat.mode, target.path)
    : copiedAccess(file.fd, file.stat.mode, target.path);
  const { note } = await pending.commit({ access, isSynced, recordFirst, ...(isExact && { like: file.stat }) });
  if (note !== undefined) options.addNote?.(note);
}

async function treeState(made: JailEntry, scope: { readonly signal: AbortSignal }): Promise<State> {
  using dir = made.openDir();
  return { ...stateOfStat(dir.stat), contents: await sumBelow(dir, scope) } as State;
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
  const target = openJail(store.directory).entry(`trees/${name}`);
  using dir = entry.openDir();
  try {
    await copyNew(dir, target, EXACT);
  } finally {
    target.close();
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

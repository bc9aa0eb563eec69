/**
 * Who may do what with a file, and what else is noted on it: what a file that takes the place of another takes over.
 *
 * Where a file has an access list, the bits of its group are the list's mask, which may permit more than the list gives
 * the group. So the bits never go anywhere without the list; where lists cannot be read, the group gets what everybody has.
 */
import { fchmodSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';

import type { AttributeCalls, Attributed } from './attribute-calls.ts';
import { HostError } from '../host-error.ts';
import { PERMISSION_BITS } from './permissions.ts';
import { systemCalls } from '../system/system-calls.ts';

export interface Attribute {
  readonly name: string;
  readonly value: Buffer;
}

export interface FileAccess {
  readonly mode: number;
  /** Undefined where there is no way to them. */
  readonly attributes: readonly Attribute[] | undefined;
}

/** Whether the group and the owner of a new file are those of the old one. */
export interface KeptOwner {
  readonly isOwnerKept: boolean;
  readonly isGroupKept: boolean;
}

/** What the file system of a directory has of each, and an edit there keeps. */
export interface KeptAttributes {
  readonly accessLists: boolean;
  /** Those that programs of users set. */
  readonly userAttributes: boolean;
}

const ACCESS_LIST = 'system.posix_acl_access';
const OWN_PREFIX = 'user.';
/** Given by the system where it wants to; a new file has the right ones of its directory. */
const IF_POSSIBLE = new Set(['security.selinux', 'security.SMACK64', 'system.nfs4_acl']);

/** Elsewhere the bits of a group mean what they say. */
const IS_MASKED = process.platform === 'linux';

const SPECIAL_BITS = 0o7000;
const GROUP_BITS = 0o070;
const OTHER_BITS = 0o007;

/** An access list: a version of four bytes, then entries of eight, each a tag, its permissions and an id. */
const LIST = { head: 4, entry: 8, permissions: 2, owningGroup: 0x04, others: 0x20 } as const;

/** What a file has; a failure is told of the caller's path. */
export function accessOf(file: Attributed, mode: number, path: string): FileAccess {
  const bits = mode & PERMISSION_BITS;
  const names = namesOn(file);
  if (!names) return { mode: IS_MASKED ? closedGroup(bits) : bits, attributes: undefined };
  try {
    return { mode: bits, attributes: names.filter(isKept).map((name) => ({ name, value: calls().get(file, name) })) };
  } catch (error) {
    throw new HostError('attributes', path, error as NodeJS.ErrnoException);
  }
}

/**
 * Gives a new file that access. One that could not be given the group takes from its group and from others what the
 * other of the two does not have: who was in the group is one of the others now.
 */
export function setAccess(fd: number, { mode, attributes }: FileAccess, kept: KeptOwner, path: string): void {
  const list = attributes?.find(isList);
  let bits = grantedBits(mode, kept);
  if (!kept.isGroupKept) bits = list ? bits & (~OTHER_BITS | sharedPermissions(list.value)) : sharedBits(bits);
  // The list before the bits: without it, those of the group would be more than the group has.
  if (attributes) setAttributes(fd, kept.isGroupKept ? attributes : attributes.map(withSharedGroup), path);
  fchmodSync(fd, bits);
}

/** Bits that lend the rights of an owner do not go to another. */
export function grantedBits(mode: number, { isOwnerKept, isGroupKept }: KeptOwner): number {
  return isOwnerKept && isGroupKept ? mode : mode & ~SPECIAL_BITS;
}

/** Gives a file or directory these attributes, and no other access list. */
export function setAttributes(of: Attributed, attributes: readonly Attribute[], path: string): void {
  const [lists, others] = [attributes.filter(isList), attributes.filter((attribute) => !isList(attribute))];
  try {
    // From the directory, which has one for new files.
    if (lists.length === 0 && namesOn(of)?.includes(ACCESS_LIST)) calls().remove(of, ACCESS_LIST);
    // The list last: it may forbid the owner to set the others.
    for (const { name, value } of [...others, ...lists]) {
      if (IF_POSSIBLE.has(name)) ifPossible(() => calls().set(of, name, value));
      else calls().set(of, name, value);
    }
  } catch (error) {
    throw new HostError('attributes', path, error as NodeJS.ErrnoException);
  }
}

/** Undefined where there is no way to them, so that edits lose them. */
export function keptAttributes(directory: string): KeptAttributes | undefined {
  if (!systemCalls()) return undefined;
  // Of a link the kernel says that it has none, whatever its file system has.
  const path = realpathSync.native(directory, 'buffer');
  const isKnown = (name: string) => {
    try {
      return calls().get(path, name).length >= 0;
    } catch (error) {
      return (error as NodeJS.ErrnoException).errno === -constants.errno.ENODATA;
    }
  };
  return { accessLists: isKnown(ACCESS_LIST), userAttributes: isKnown(`${OWN_PREFIX}workcell`) };
}

export function isList({ name }: Attribute): boolean {
  return name === ACCESS_LIST;
}

function isKept(name: string): boolean {
  return name === ACCESS_LIST || name.startsWith(OWN_PREFIX) || IF_POSSIBLE.has(name);
}

function calls(): AttributeCalls {
  return systemCalls()!.attributes;
}

/** Undefined where nobody can tell. */
function namesOn(of: Attributed): string[] | undefined {
  if (!systemCalls()) return undefined;
  try {
    return calls().list(of);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTSUP' ? [] : undefined;
  }
}

function ifPossible(call: () => void): void {
  try {
    call();
  } catch {
    // Then the system's own choice stands.
  }
}

/** The group with no more than everybody. */
function closedGroup(bits: number): number {
  return bits & ~(GROUP_BITS & ~((bits & OTHER_BITS) << 3));
}

/** Group and others with what both have. */
function sharedBits(bits: number): number {
  const shared = (bits >> 3) & bits & OTHER_BITS;
  return (bits & ~(GROUP_BITS | OTHER_BITS)) | (shared << 3) | shared;
}

function withSharedGroup(attribute: Attribute): Attribute {
  if (!isList(attribute)) return attribute;
  const value = Buffer.from(attribute.value);
  const shared = sharedPermissions(value);
  for (const at of sharedEntries(value)) value.writeUInt16LE(shared, at + LIST.permissions);
  return { name: ACCESS_LIST, value };
}

/** What an access list gives both to the group and to others. */
function sharedPermissions(list: Buffer): number {
  return sharedEntries(list).reduce((shared, at) => shared & list.readUInt16LE(at + LIST.permissions), OTHER_BITS);
}

function sharedEntries(list: Buffer): number[] {
  const entries: number[] = [];
  for (let at = LIST.head; at + LIST.entry <= list.length; at += LIST.entry) {
    const tag = list.readUInt16LE(at);
    if (tag === LIST.owningGroup || tag === LIST.others) entries.push(at);
  }
  return entries;
}

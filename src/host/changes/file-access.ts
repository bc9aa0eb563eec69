/**
 * Mode, access list (ACL) and attributes of a file, which the file that replaces it takes over.
 *
 * If a file has an ACL, its group bits are the mask of the ACL, which may permit more than the ACL grants the group. So
 * the bits are never copied without the ACL; where ACLs cannot be read, the group gets the permissions of others.
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
  /** Undefined if this process cannot read attributes. */
  readonly attributes: readonly Attribute[] | undefined;
}

/** Whether the new file could be given the owner and the group of the old one. */
export interface KeptOwner {
  readonly isOwnerKept: boolean;
  readonly isGroupKept: boolean;
}

/** Attributes that the file system of a directory supports, so that edits there keep them. */
export interface KeptAttributes {
  readonly accessLists: boolean;
  /** `user.*` attributes. */
  readonly userAttributes: boolean;
}

const ACCESS_LIST = 'system.posix_acl_access';
const OWN_PREFIX = 'user.';
/** Copied if the kernel permits it; otherwise a new file has the ones that the kernel gave it for its directory. */
const IF_POSSIBLE = new Set(['security.selinux', 'security.SMACK64', 'system.nfs4_acl']);

/** On other systems the group bits are the permissions of the group, not an ACL mask. */
const IS_MASKED = process.platform === 'linux';

const SPECIAL_BITS = 0o7000;
const GROUP_BITS = 0o070;
const OTHER_BITS = 0o007;

/** Layout of an ACL: a version of 4 bytes, then entries of 8 bytes, each with tag, permissions and id. */
const LIST = { head: 4, entry: 8, permissions: 2, owningGroup: 0x04, others: 0x20 } as const;

/** Reads mode and attributes of a file; an error names `path`. */
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
 * Sets mode and attributes of a new file. If the file could not be given the old group, group and others both get only
 * the permissions that both had: members of the old group are others now.
 */
export function setAccess(fd: number, { mode, attributes }: FileAccess, kept: KeptOwner, path: string): void {
  const list = attributes?.find(isList);
  let bits = grantedBits(mode, kept);
  if (!kept.isGroupKept) bits = list ? bits & (~OTHER_BITS | sharedPermissions(list.value)) : sharedBits(bits);
  // The ACL before the bits: without it, the group bits would grant the group more than the ACL did.
  if (attributes) setAttributes(fd, kept.isGroupKept ? attributes : attributes.map(withSharedGroup), path);
  fchmodSync(fd, bits);
}

/** Drops setuid, setgid and sticky bits if owner or group differ: they would grant the rights of another user. */
export function grantedBits(mode: number, { isOwnerKept, isGroupKept }: KeptOwner): number {
  return isOwnerKept && isGroupKept ? mode : mode & ~SPECIAL_BITS;
}

/** Sets attributes of a file or directory, and removes its ACL if they contain none. */
export function setAttributes(of: Attributed, attributes: readonly Attribute[], path: string): void {
  const [lists, others] = [attributes.filter(isList), attributes.filter((attribute) => !isList(attribute))];
  try {
    // The kernel gave it the default ACL of the directory.
    if (lists.length === 0 && namesOn(of)?.includes(ACCESS_LIST)) calls().remove(of, ACCESS_LIST);
    // The ACL last: it may forbid the owner to set the others.
    for (const { name, value } of [...others, ...lists]) {
      if (IF_POSSIBLE.has(name)) ifPossible(() => calls().set(of, name, value));
      else calls().set(of, name, value);
    }
  } catch (error) {
    throw new HostError('attributes', path, error as NodeJS.ErrnoException);
  }
}

/** Undefined if this process has no attribute calls, so that edits lose attributes. */
export function keptAttributes(directory: string): KeptAttributes | undefined {
  if (!systemCalls()) return undefined;
  // For a symlink the kernel reports no attributes, whatever its file system supports.
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

/** Attribute names of a file; undefined if they cannot be read. */
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
    // The file keeps the value that the kernel gave it.
  }
}

/** Reduces the group bits to those of others. */
function closedGroup(bits: number): number {
  return bits & ~(GROUP_BITS & ~((bits & OTHER_BITS) << 3));
}

/** Reduces the bits of group and others to those that both have. */
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

/** Permissions that an ACL grants both to the owning group and to others. */
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

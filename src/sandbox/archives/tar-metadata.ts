/**
 * Metadata of a tar archive about its next entry, in a block of its own: pax records and GNU's long names.
 *
 * Sparse files are refused. Their stored bytes are not the bytes of the file, and no tool that builds images writes
 * them.
 */
import type { ByteString } from '#host';
import { ArchiveError } from './archive-error.ts';
import type { TarHeader } from './tar-header.ts';

/** Largest block of metadata. */
export const MAX_METADATA_BYTES = 1_048_576;

/** How much of a malformed record the error shows. */
const SHOWN_BYTES = 40;

export type HeaderChanges = Partial<Pick<TarHeader, 'name' | 'linkName' | 'size' | 'uid' | 'gid' | 'mtimeSecs'>>;

export function readMetadata({ flag, name }: TarHeader, body: Buffer): HeaderChanges {
  if (flag === 'L') return { name: cString(body) };
  if (flag === 'K') return { linkName: cString(body) };
  return paxChanges(body, name);
}

function cString(body: Buffer): ByteString {
  const end = body.indexOf(0);
  return body.toString('latin1', 0, end < 0 ? body.length : end) as ByteString;
}

/** A record is `<length> <key>=<value>\n`, where the length counts the whole record. */
function paxChanges(body: Buffer, name: ByteString): HeaderChanges {
  const changes: { -readonly [Key in keyof HeaderChanges]: HeaderChanges[Key] } = {};
  for (let at = 0; at < body.length;) {
    const blank = body.indexOf(0x20, at);
    const length = blank < 0 ? Number.NaN : Number(body.toString('latin1', at, blank));
    const record = Number.isSafeInteger(length) ? body.toString('latin1', blank + 1, at + length) : '';
    const equals = record.indexOf('=');
    if (equals < 1 || !record.endsWith('\n') || at + length > body.length) {
      const start = JSON.stringify(body.toString('latin1', at, at + SHOWN_BYTES));
      throw new ArchiveError(`the pax record at byte ${at} of ${name} is malformed; it begins with ${start}`);
    }

    const key = record.slice(0, equals);
    const value = record.slice(equals + 1, -1);
    if (key.startsWith('GNU.sparse.'))
      throw new ArchiveError('the archive holds a sparse file, which is not supported');
    if (key === 'path') changes.name = value as ByteString;
    if (key === 'linkpath') changes.linkName = value as ByteString;
    if (key === 'size') changes.size = wholeNumber(key, value);
    if (key === 'uid') changes.uid = wholeNumber(key, value);
    if (key === 'gid') changes.gid = wholeNumber(key, value);
    if (key === 'mtime') changes.mtimeSecs = seconds(value);
    at += length;
  }
  return changes;
}

function wholeNumber(key: string, value: string): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new ArchiveError(`a pax record says ${key}=${value}`);
  return number;
}

function seconds(value: string): number {
  const number = /^-?\d+(\.\d*)?$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isFinite(number)) throw new ArchiveError(`a pax record says mtime=${value}`);
  return number;
}

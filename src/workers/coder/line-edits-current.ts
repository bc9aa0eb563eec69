/** Reads a file before it is changed: checks the size limit and the version that the request expects. */
import { isUtf8 } from 'node:buffer';

import { versionOf, type ByteRange, type JailEntry } from '#host';
import type { EditMemory } from './edit-memory.ts';
import { errors } from './errors.ts';
import { regionAround } from './line-edits-regions.ts';

/** Most bytes of the file, and the configuration key that sets this limit. */
export interface SizeLimit {
  readonly bytes: number;
  readonly key: 'max_read_bytes' | 'max_write_bytes';
}

export interface Expectation {
  /** Undefined when the request has none. */
  version: string | undefined;
  /** The request for this file alone, with its current version. */
  fix: (version: string) => Record<string, unknown>;
  /** The part of the file that the request is about; its beginning when absent. */
  range?: (text: Buffer) => Promise<ByteRange | undefined>;
  /** Buffer for the file's content; new memory when absent. */
  memory?: EditMemory;
}

/** Throws C221 for another version, with everything that the caller needs to decide again. */
export async function readCurrent(entry: JailEntry, limit: SizeLimit, expected: Expectation): Promise<Buffer> {
  using file = entry.open();
  const { size } = file.stat;
  if (size > limit.bytes) throw errors.fail('C213', { path: entry.path, size, limit: limit.bytes, key: limit.key });

  const bytes = await file.read(expected.memory?.take(size));
  if (expected.version !== undefined)
    await requireVersion(entry.path, bytes, { ...expected, version: expected.version });
  return bytes;
}

async function requireVersion(path: string, bytes: Buffer, expected: Expectation & { version: string }): Promise<void> {
  const version = versionOf(bytes);
  if (version === expected.version) return;

  const fix = expected.fix(version);
  const conflict = errors.fail('C221', { path, expected: expected.version, actual: version, fix });
  conflict.extra.version = version;
  if (isUtf8(bytes)) {
    conflict.extra.region = regionAround(bytes, (await expected.range?.(bytes)) ?? { start: 0, end: 0 });
  }
  throw conflict;
}

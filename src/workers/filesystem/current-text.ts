/** Reads a file before it is changed: within max_file_size, UTF-8, and at the version that the request expects. */
import { z } from 'zod';

import { HostError, versionOf, type JailEntry } from '#host';
import { isUtf8Text } from './encodings.ts';
import { errors } from './errors.ts';
import type { FilesystemContext } from './worker.ts';

export const expectedVersionField = z
  .string()
  .optional()
  .describe('Change the file only if it has this version, as returned by a read or an earlier change; else fail.');

export const versionField = z.string().describe('Version of the new content; pass it as `expected_version`.');

/** The bytes of the text at the target. */
export async function readCurrentText(
  target: JailEntry,
  expectedVersion: string | undefined,
  { maxFileBytes }: Pick<FilesystemContext, 'maxFileBytes'>,
): Promise<Buffer> {
  if (!target.stat) throw new HostError('missing', target.path);
  if (!target.stat.isFile()) throw new HostError('not-a-file', target.path);

  const path = `/${target.relativePath}`;
  const bytes = await readCurrent(target, expectedVersion, { maxFileBytes });
  if (!isUtf8Text(bytes)) {
    throw errors.fail('F218', { path, encoding: 'utf-8', advice: 'write the whole file instead, in its `encoding`' });
  }
  return bytes;
}

/** The same for a file that need not be text. */
export async function readCurrent(
  target: JailEntry,
  expectedVersion: string | undefined,
  { maxFileBytes }: Pick<FilesystemContext, 'maxFileBytes'>,
): Promise<Buffer> {
  using file = target.open();
  requireSize(file, maxFileBytes);
  const bytes = await file.read();
  const actual = expectedVersion === undefined ? undefined : versionOf(bytes);
  if (actual !== expectedVersion) {
    const path = `/${file.relativePath}`;
    throw errors.fail('F221', { path, expected: expectedVersion!, actual: actual! });
  }
  return bytes;
}

export function requireSize(
  { relativePath, size }: { readonly relativePath: string; readonly size: number },
  limit: number,
): void {
  if (size > limit) throw errors.fail('F213', { path: `/${relativePath}`, size, limit });
}

/**
 * Replaces text in a guest's files line by line: only matches change, and a file without a match is not written. The
 * pattern and the replacement are checked before the first file is changed.
 */
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';

import {
  FileFault,
  HostError,
  KeptOutput,
  RegexError,
  TimeLimit,
  TimeLimitError,
  type FileScope,
  type SedRequest,
  type SedResult,
} from '#host';
import { GuestError } from './guest-error.ts';
import { filesBelow, isDirectoryAt, type GuestSearch } from './guest-grep.ts';

/** Most files of one call; each has a row in the answer. */
const MAX_FILES = 100_000;

/** A file is edited in memory, before and after. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Errors that leave one file unchanged; the call continues with the others. */
const OF_FILE = [FileFault, RegexError, TimeLimitError];

type Replace = (text: Buffer) => Promise<{ bytes: Uint8Array; count: number }>;

export async function sedGuest(
  search: GuestSearch,
  { where, ...edit }: SedRequest,
  scope: FileScope,
): Promise<SedResult[]> {
  using limit = new TimeLimit(search.timeoutMs, scope.signal);
  const paths = 'files' in where ? where.files : await pathsBelow(search, where, limit.signal);
  if (paths.length > MAX_FILES) throw new FileFault('bad-request', `more than ${MAX_FILES} files; name fewer`);
  const replace = replacing(search, edit, limit.signal);
  await replace(Buffer.alloc(0));

  const results: SedResult[] = [];
  for (const path of paths) results.push(await editFile(search, path, replace, { reading: limit, writing: scope }));
  return results;
}

async function pathsBelow(
  { files }: GuestSearch,
  where: Extract<SedRequest['where'], { path: string }>,
  signal: AbortSignal,
): Promise<string[]> {
  if (!(await isDirectoryAt(files, where.path, signal))) return [where.path];
  if (!where.recursive) {
    throw new FileFault('bad-request', `${where.path} is a directory; set recursive: true to edit the files in it`);
  }
  return (await filesBelow(files, where, { signal })).map(({ path }) => path);
}

function replacing(
  { regexes }: GuestSearch,
  { pattern, replacement, isRegex, firstOnly, ignoreCase }: Omit<SedRequest, 'where'>,
  signal: AbortSignal,
): Replace {
  if (!isRegex && pattern === '') throw new FileFault('bad-request', 'a literal pattern must not be empty');
  const task = {
    pattern: isRegex ? pattern : pattern.replace(/[\\.+*?()|[\]{}^$#&~-]/g, '\\$&'),
    replacement: isRegex ? replacement : replacement.replaceAll('$', '$$$$'),
    ignoreCase,
    unit: 'line',
    limit: firstOnly ? 1 : undefined,
    maxBytes: MAX_FILE_BYTES,
  } as const;
  return (text) => regexes.replace({ ...task, text }, { signal });
}

async function editFile(
  { files }: GuestSearch,
  path: string,
  replace: Replace,
  { reading, writing }: { reading: Pick<FileScope, 'signal'>; writing: FileScope },
): Promise<SedResult> {
  try {
    const { row, bytes, close } = await files.read(path, { signal: reading.signal });
    const text = new KeptOutput();
    try {
      for await (const piece of bytes) {
        text.add(piece);
        if (text.length > MAX_FILE_BYTES)
          throw new FileFault('too-large', `${path} is larger than ${MAX_FILE_BYTES} bytes`);
      }
    } finally {
      close();
    }
    if (!isUtf8(text.bytes)) throw new FileFault('bad-request', `${path} is not UTF-8 text`);

    const replaced = await replace(text.bytes);
    if (replaced.count > 0) {
      const { mode, uid, gid } = row;
      await files.write(path, Readable.from([replaced.bytes]), { mode, uid, gid, parents: false }, writing);
    }
    return { path, replacements: replaced.count };
  } catch (error) {
    if (error instanceof GuestError)
      return { path, replacements: 0, problem: HostError.fromErrno(error, path).message };
    if (!OF_FILE.some((kind) => error instanceof kind)) throw error;
    return { path, replacements: 0, problem: (error as Error).message };
  }
}

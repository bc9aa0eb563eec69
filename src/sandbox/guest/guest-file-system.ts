/**
 * The files of a guest as a `FileSystem`: the agent works on files, the host on patterns.
 *
 * Paths are those of the guest. A path without a leading slash starts at its root.
 */
import { basename } from 'node:path/posix';

import { HostError, RegexThreads, type FileInfo, type FileScope, type FileSystem, type Listing } from '#host';
import type { AgentClient } from './agent-client.ts';
import { GuestError } from './guest-error.ts';
import type { ChangeScope } from './guest-files.ts';
import { grepGuest } from './guest-grep.ts';
import type { Row } from './guest-rows.ts';
import { ReportingGuestFiles } from './reporting-guest-files.ts';
import { sedGuest } from './guest-sed.ts';
import { sortInTurns } from './sort-in-turns.ts';

/** Most entries of one listing; a reply with more would exceed the size of a message. */
const MAX_LISTED = 200_000;

/** Shared by all guests; idle threads do not keep the process alive. */
const regexes = new RegexThreads();

export function guestFileSystem(
  agent: AgentClient,
  { searchTimeoutMs }: { searchTimeoutMs?: number } = {},
): FileSystem {
  const files = new ReportingGuestFiles(agent);
  const search = { files, regexes, timeoutMs: searchTimeoutMs };
  return {
    ls: (path, scope) => asHostError(path, () => listed(files, path, scope)),
    async stat(path, scope) {
      const row = await asHostError(path, () => files.stat(path, scope));
      return toInfo(basename(path) || path, row);
    },
    async read(path, scope) {
      const { row, bytes, close } = await asHostError(path, () => files.read(path, scope));
      const { sizeBytes, mode, mtimeSecs } = row;
      return { sizeBytes, mode, mtimeSecs, bytes: complete(bytes, { path, sizeBytes }), close };
    },
    write: (path, bytes, options, scope) =>
      asHostError(path, () => files.write(path, bytes, options, scope), { directoryIs: 'io' }),
    mkdir: (path, options, scope) => asHostError(path, () => files.mkdir(path, { ...options, ...changeScope(scope) })),
    rm: (path, options, scope) => asHostError(path, () => files.remove(path, { ...options, ...changeScope(scope) })),
    chmod: (path, options, scope) => asHostError(path, () => files.chmod(path, { ...options, ...changeScope(scope) })),
    async mv(from, to, options, scope) {
      const errorOptions = { source: from, directoryIs: 'io' } as const;
      await asHostError(to, () => files.rename(from, to, { ...options, ...changeScope(scope) }), errorOptions);
    },
    grep: (request, scope) => asHostError(request.path, () => grepGuest(search, request, scope)),
    sed: (request, scope) =>
      asHostError('path' in request.where ? request.where.path : '', () => sedGuest(search, request, scope)),
  };
}

async function listed(files: ReportingGuestFiles, path: string, scope: FileScope): Promise<Listing> {
  const entries: FileInfo[] = [];
  let isTruncated = false;
  for await (const rows of files.list(path, scope)) {
    for (const row of rows) entries.push(toInfo(row.name, row));
    isTruncated = entries.length > MAX_LISTED;
    if (isTruncated) break;
  }
  const sorted = await sortInTurns(entries, (entry) => entry.name, scope);
  return { entries: sorted.slice(0, MAX_LISTED), isTruncated };
}

/** A handler's scope has getters, which a spread would not copy. */
function changeScope({ signal, noteChange }: FileScope): ChangeScope {
  return { signal, noteChange };
}

function toInfo(name: string, { kind, sizeBytes, mode, mtimeSecs }: Row): FileInfo {
  return { name, kind: kind === 'unreadable' ? 'other' : kind, sizeBytes, mode, mtimeSecs };
}

/** Throws if the stream does, and if the file was shorter than its size, for example truncated during the read. */
async function* complete(
  bytes: AsyncIterable<Buffer>,
  { path, sizeBytes }: { path: string; sizeBytes: number },
): AsyncGenerator<Uint8Array> {
  let total = 0;
  try {
    for await (const piece of bytes) {
      total += piece.length;
      yield piece;
    }
  } catch (error) {
    throw HostError.fromErrno(error, path);
  }
  if (total < sizeBytes) throw new HostError('io', path);
}

/**
 * Translates an errno of the guest for the requested path; the cause shows whether it was about the parent directory.
 */
async function asHostError<T>(
  path: string,
  work: () => Promise<T>,
  options: { source?: string; directoryIs?: 'io' } = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    const named = error.about === 'source' ? (options.source ?? path) : path;
    if (error.code === 'EISDIR' && options.directoryIs) throw new HostError(options.directoryIs, named, error);
    if (error.code === 'ENOTDIR' && error.about === 'path') throw new HostError('not-a-directory', named, error);
    // The agent does not open a pipe or a device: a read might never end, or never begin.
    if (error.code === 'ENXIO') throw new HostError('not-a-file', named, error);
    throw HostError.fromErrno(error, named);
  }
}

/**
 * The files of an image archive by name: of a directory, or of a tar that is first spooled to numbered files.
 *
 * Names in a tar never become names on the disk, so none can point outside.
 */
import { closeSync, createReadStream, openSync, statSync, writeSync } from 'node:fs';
import { join, posix } from 'node:path';

import { toText } from '#host';
import { ArchiveBudget, ArchiveError, decompress, readTar, type ArchiveLimits } from '#sandbox/archives';

const READ_BYTES = 262_144;

/** Old versions of Docker store the second copy of a layer as a link to the first. */
const MAX_LINKS = 8;

export interface ArchiveFiles {
  has(name: string): boolean;
  open(name: string): AsyncIterable<Uint8Array>;
  read(name: string, options: { maxBytes: number }): Promise<Buffer>;
}

export interface SpoolOptions {
  readonly workDir: string;
  readonly limits: ArchiveLimits;
  readonly signal: AbortSignal;
}

export async function openArchiveFiles(path: string, options: SpoolOptions): Promise<ArchiveFiles> {
  const find = statSync(path).isDirectory() ? inDirectory(path) : await spool(path, options);
  const open = (name: string) => {
    const file = find(name);
    if (file === undefined) throw new ArchiveError(`the archive lacks ${name}`);
    return createReadStream(file, { highWaterMark: READ_BYTES });
  };
  return {
    has: (name) => find(name) !== undefined,
    open,
    read: (name, { maxBytes }) => readUpTo(open(name), name, maxBytes),
  };
}

type Find = (name: string) => string | undefined;

/** Names are digests or come from the documents of the archive, which are validated where they are parsed. */
function inDirectory(folder: string): Find {
  return (name) => {
    const path = join(folder, name);
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? path : undefined;
  };
}

async function spool(path: string, { workDir, limits, signal }: SpoolOptions): Promise<Find> {
  const files = new Map<string, string>();
  const links = new Map<string, string>();
  const budget = new ArchiveBudget(limits);
  const tar = decompress(createReadStream(path, { highWaterMark: READ_BYTES }));
  for await (const { header, body } of readTar(budget.count(tar))) {
    signal.throwIfAborted();
    budget.countEntry(header);
    const name = posix.normalize(toText(header.name));
    if (header.type === 'link') links.set(name, posix.normalize(toText(header.linkName)));
    if (header.type === 'symlink') links.set(name, posix.join(posix.dirname(name), toText(header.linkName)));
    if (header.type !== 'file') continue;

    const spooled = join(workDir, `entry-${budget.entries}`);
    await writeTo(spooled, body());
    files.set(name, spooled);
    links.delete(name);
  }
  return (name) => files.get(targetOf(name, links));
}

function targetOf(name: string, links: ReadonlyMap<string, string>): string {
  let target = name;
  for (let hops = 0; hops < MAX_LINKS; hops++) target = links.get(target) ?? target;
  return target;
}

async function writeTo(path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const fd = openSync(path, 'wx', 0o600);
  try {
    for await (const piece of body) {
      for (let written = 0; written < piece.length;) written += writeSync(fd, piece, written);
    }
  } finally {
    closeSync(fd);
  }
}

async function readUpTo(source: AsyncIterable<Uint8Array>, name: string, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new ArchiveError(`${name} is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

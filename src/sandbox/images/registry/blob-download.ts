/**
 * Downloads one blob from a registry to the cache. A broken download resumes where it stopped, in this process or a
 * later one.
 *
 * The digest is computed while the bytes stream by; only a file with the right digest gets its final name.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Descriptor } from '../oci-documents.ts';
import { RegistryError } from './registry-error.ts';
import { bodyOf, type RegistryHttp } from './registry-http.ts';

export interface BlobDownload {
  readonly http: RegistryHttp;
  readonly blob: Descriptor;
  /** Final path of the blob. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly stallMs: number;
  /** Bytes downloaded so far. */
  readonly onBytes: (bytes: number) => void;
}

export async function downloadBlob({ http, blob, path, signal, onBytes, stallMs }: BlobDownload): Promise<void> {
  if (sizeOf(path) === blob.size) return onBytes(blob.size);
  mkdirSync(dirname(path), { recursive: true });
  const part = `${path}.part`;
  const had = sizeOf(part) ?? 0;
  if (had >= blob.size) return finishWhole(part, { path, blob });
  const stalled = new AbortController();
  const either = AbortSignal.any([signal, stalled.signal]);

  const answer = await http.get(`blobs/${blob.digest}`, { headers: rangeFrom(had), signal: either });
  const from = startOf(answer, had);
  const hash = createHash('sha256');
  await hashStart(hash, part, from);
  const timer = setTimeout(() => stalled.abort(), stallMs);
  try {
    await using file = await open(part, from === 0 ? 'w' : 'r+');
    await file.truncate(from);
    await receive(answer, { file, hash, from, blob, onBytes, onPiece: () => timer.refresh() });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RegistryError || isDiskError(error)) throw error;
    const why = stalled.signal.aborted ? `no byte for ${stallMs} ms` : (error as Error).message;
    throw new RegistryError('unreachable', `the download of ${blob.digest} broke off: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
  finish(hash, { part, path, blob, from });
}

/** Finishes a download that was complete when its process ended. */
async function finishWhole(part: string, { path, blob }: { path: string; blob: Descriptor }): Promise<void> {
  const hash = createHash('sha256');
  await hashStart(hash, part, blob.size);
  finish(hash, { part, path, blob, from: blob.size });
}

interface Receiving {
  file: FileHandle;
  hash: Hash;
  from: number;
  blob: Descriptor;
  onBytes: (bytes: number) => void;
  onPiece: () => void;
}

async function receive(answer: Response, { file, hash, from, blob, onBytes, onPiece }: Receiving): Promise<void> {
  let bytes = from;
  for await (const piece of bodyOf(answer)) {
    bytes += piece.length;
    if (bytes > blob.size)
      throw new RegistryError('broken', `${blob.digest} is larger than the ${blob.size} bytes announced`);
    hash.update(piece);
    await file.write(piece, 0, piece.length, bytes - piece.length);
    onPiece();
    onBytes(bytes);
  }
  if (bytes < blob.size)
    throw new RegistryError('unreachable', `${blob.digest} ended after ${bytes} of ${blob.size} bytes`);
}

interface Finishing {
  part: string;
  path: string;
  blob: Descriptor;
  from: number;
}

function finish(hash: Hash, { part, path, blob, from }: Finishing): void {
  const digest = `sha256:${hash.digest('hex')}`;
  if (digest === blob.digest) return renameSync(part, path);
  rmSync(part);
  // Retries the whole blob, because the fault may be in the bytes of an earlier attempt.
  throw new RegistryError(
    from > 0 ? 'unreachable' : 'broken',
    `registry sent digest ${digest} instead of ${blob.digest}; pull again`,
  );
}

function rangeFrom(offset: number): Record<string, string> {
  return offset === 0 ? {} : { range: `bytes=${offset}-` };
}

/** Offset of the response: a server may ignore the range and send everything. */
function startOf(answer: Response, asked: number): number {
  if (answer.status !== 206) return 0;
  const start = Number(/^bytes (\d+)-/.exec(answer.headers.get('content-range') ?? '')?.[1]);
  if (start !== asked) throw new RegistryError('broken', `asked for bytes from ${asked}, got them from ${start}`);
  return start;
}

async function hashStart(hash: Hash, part: string, bytes: number): Promise<void> {
  if (bytes === 0) return;
  for await (const piece of createReadStream(part, { end: bytes - 1 })) hash.update(piece as Buffer);
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'write';
}

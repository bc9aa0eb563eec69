/** Reads a file piece by piece, each when the one before was taken, so that a huge file costs little memory. */
import { read } from 'node:fs';
import { promisify } from 'node:util';

import { HostError } from '../host-error.ts';
import type { JailFile } from '../jail/jail-file.ts';
import { changedMeanwhile } from '../jail/pin.ts';

const PIECE_BYTES = 256 * 1024;

const readLater = promisify(read);

/** Yields as many bytes as the file had when it was opened; throws if there turn out to be fewer. */
export async function* piecesOf(file: JailFile, path: string): AsyncGenerator<Buffer> {
  const { size } = file.stat;
  for (let at = 0; at < size;) {
    // A new buffer each time: the consumer may still use the last one.
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size - at));
    const count = await readAt(file, piece, at, path);
    if (count === 0) throw HostError.fromErrno(changedMeanwhile('ESTALE'), path);
    yield piece.subarray(0, count);
    at += count;
  }
}

async function readAt(file: JailFile, piece: Buffer, at: number, path: string): Promise<number> {
  try {
    return (await readLater(file.fd, piece, 0, piece.length, at)).bytesRead;
  } catch (error) {
    throw HostError.fromErrno(error, path);
  }
}

/**
 * Reading a whole file at once on this thread, or piece by piece on the thread pool: what the decision on small files
 * rests on.
 */
import { closeSync, fstatSync, openSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';

const readLater = promisify(read);

const KIBIBYTES = [4, 64, 512, 1024, 4096];
const PIECE_BYTES = 1 << 20;
/** Bytes read in one round of a case, so that every size takes about as long. */
const ROUND_BYTES = 16 << 20;

export async function compareInlineReads(harness, corpus) {
  for (const kibibytes of KIBIBYTES) {
    const name = `inline-${kibibytes}.txt`;
    corpus.text(name, kibibytes * 1024);
    const path = corpus.path(name);
    const times = Math.min(400, ROUND_BYTES / (kibibytes * 1024));
    await harness.compare({
      title: `Reading a file of ${kibibytes} KiB that is in the page cache`,
      base: 'at once',
      cases: {
        'at once': () => repeated(times, () => readAtOnce(path)),
        'by the thread pool': () => repeated(times, () => readByPool(path)),
      },
      rounds: 15,
    });
  }
}

async function repeated(times, work) {
  const started = performance.now();
  for (let i = 0; i < times; i++) await work();
  return { time: (performance.now() - started) / times };
}

function readAtOnce(path) {
  const fd = openSync(path, 'r');
  const bytes = Buffer.allocUnsafe(fstatSync(fd).size);
  readSync(fd, bytes, 0, bytes.length, 0);
  closeSync(fd);
  return bytes;
}

async function readByPool(path) {
  const fd = openSync(path, 'r');
  const bytes = Buffer.allocUnsafe(fstatSync(fd).size);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await readLater(fd, bytes, at, Math.min(PIECE_BYTES, bytes.length - at), at);
  }
  closeSync(fd);
  return bytes;
}

/**
 * The disk behind a machine's writes: swap space, in a sparse file.
 *
 * A machine keeps its files in memory, and the kernel swaps the excess to this disk. That makes small files as
 * fast as memory, and the disk may still be larger than the memory. The reasons and the figures are in
 * docs/decisions/2026-11-15-machine-files-in-memory.md.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';

const PAGE_BYTES = 4096;
const MB = 2 ** 20;

/** Offset of the Linux swap header: version, last page; a name is at the end of the page. */
const FACTS_AT = 1024;
const VERSION = 1;
const MAGIC = 'SWAPSPACE2';

/** A machine takes the space beyond the first MiB as the size of its disk. */
const HEADER_MB = 1;

export function makeScratchDisk(path: string, { diskMb }: { diskMb: number }): void {
  const bytes = (diskMb + HEADER_MB) * MB;
  const header = Buffer.alloc(PAGE_BYTES);
  header.writeUInt32LE(VERSION, FACTS_AT);
  header.writeUInt32LE(bytes / PAGE_BYTES - 1, FACTS_AT + 4);
  header.write(MAGIC, PAGE_BYTES - MAGIC.length, 'latin1');

  const fd = openSync(path, 'w', 0o600);
  try {
    writeSync(fd, header);
    ftruncateSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

/** Context of the file operations of this host: the files below fs.host_root, and the limits of the configuration. */
import type { CellConfig } from '#contract';
import { OpenReads, type FileContext } from '#file-functions';
import { HostFileSystem, sweepSoon, type InView } from '#host';
import type { ShellConfig } from './config.ts';

/** How long a write waits for the next bytes. */
const IDLE_MS = 30_000;

export interface ShellFiles extends FileContext {
  readonly files: HostFileSystem;
  close(): Promise<void>;
}

/** `root` is the canonical host_root, or `/`. */
export async function openFiles(
  root: string,
  { max_read_bytes, max_write_bytes, denylist_paths, search_timeout_ms }: ShellConfig['fs'],
  cell: CellConfig,
  { view, journalDir }: InView = {},
): Promise<ShellFiles> {
  const maxWriteBytes = max_write_bytes || Infinity;
  const files = new HostFileSystem({
    roots: [root],
    ...cell,
    ...(view && { view, journal_dir: journalDir }),
    deniedPaths: denylist_paths,
    maxWriteBytes,
    searchTimeoutMs: search_timeout_ms,
  });
  await files.recovered();
  const openReads = new OpenReads();
  const sweep = sweepSoon(files.jail);
  return {
    files,
    maxReadBytes: max_read_bytes || Infinity,
    maxWriteBytes,
    idleMs: IDLE_MS,
    openReads,
    async close() {
      sweep[Symbol.dispose]();
      openReads.close();
      await files.close();
    },
  };
}

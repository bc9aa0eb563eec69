/**
 * A temporary directory for one test, filled from a table and removed with everything in it.
 *
 * The root is a canonical path, so that results can be compared with it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The content of a file, or another kind of entry. */
type TempEntry = string | Uint8Array | { content: string; mode: number } | { symlink: string } | { fifo: true };

/** Entries by path. A name that ends in `/` is a directory, whatever its value. */
export type TempEntries = Record<string, TempEntry>;

export interface TempDir extends AsyncDisposable {
  readonly root: string;
  /** The host path of a name in it. */
  path(name: string): string;
  add(entries: TempEntries): void;
}

export async function tempDir(entries: TempEntries = {}): Promise<TempDir> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-')));
  const dir: TempDir = {
    root,
    path: (name) => join(root, name),
    add(more) {
      for (const [name, entry] of Object.entries(more)) {
        const path = join(root, name);
        mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true });
        if (!name.endsWith('/')) make(path, entry);
      }
    },
    [Symbol.asyncDispose]: async () => {
      // The kernel makes directories without any permission for overlays, which only root reads.
      if (process.geteuid?.() !== 0) execFileSync('chmod', ['-R', 'u+rwX', root], { stdio: 'ignore' });
      // A process that was killed just now may still create a file, so ENOTEMPTY is retried.
      rmSync(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  dir.add(entries);
  return dir;
}

function make(path: string, entry: TempEntry): void {
  if (typeof entry === 'string' || entry instanceof Uint8Array) {
    writeFileSync(path, entry);
  } else if ('symlink' in entry) {
    symlinkSync(entry.symlink, path);
  } else if ('fifo' in entry) {
    execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
  } else {
    writeFileSync(path, entry.content);
    chmodSync(path, entry.mode);
  }
}

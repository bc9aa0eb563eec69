/**
 * Unpacks a tar that a guest wrote into a new directory of this machine.
 *
 * Nothing is written outside the directory, and nothing in it points outside: symlinks that would, device nodes and
 * FIFOs are skipped and listed. Files belong to the calling user, and none is setuid. The directory appears when it is
 * complete.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';

import type { ByteString } from '#host';
import { ARCHIVE_LIMITS, type ArchiveLimits } from './archive-limits.ts';
import { checkText, pathOf } from './entry-path.ts';
import { ArchiveBudget } from './apply-layer.ts';
import { readTar, type TarEntry } from './tar-reader.ts';
import { TreeWriter, type EntryFacts } from './tree-writer.ts';

export interface UnpackedTree {
  files: number;
  /** The first skipped names, and the number of all. */
  leftOut: { names: string[]; count: number };
}

const MAX_NAMES = 10;

/** Whether a tree may be put there: the path is free, or an empty directory. */
export function isFreeForTree(target: string): boolean {
  try {
    return readdirSync(target).length === 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

export async function unpackTree(
  tar: AsyncIterable<Uint8Array>,
  target: string,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<UnpackedTree> {
  const part = `${target}.${randomUUID()}.part`;
  mkdirSync(part, { mode: 0o700 });
  try {
    const tree = new OwnTree(part, limits);
    const budget = new ArchiveBudget(limits);
    for await (const entry of readTar(budget.count(tar))) {
      budget.countEntry(entry.header);
      await tree.put(entry);
    }
    tree.finish();
    renameSync(part, target);
    return tree.report;
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw error;
  }
}

class OwnTree {
  readonly report: UnpackedTree = { files: 0, leftOut: { names: [], count: 0 } };
  readonly #tree: TreeWriter;
  readonly #depth: number;

  constructor(root: string, { depth }: ArchiveLimits) {
    this.#tree = new TreeWriter(root);
    this.#depth = depth;
    this.#tree.directory('', ownFacts({ mode: 0o755, mtimeSecs: Date.now() / 1000 }));
  }

  finish(): void {
    this.#tree.finish();
  }

  async put({ header, body }: TarEntry): Promise<void> {
    const path = pathOf(header.name, this.#depth);
    const resolved = path === '' ? '' : this.#tree.resolve(path);
    const facts = ownFacts(header);
    if (header.type === 'directory') return this.#tree.directory(resolved, facts);
    if (resolved === '') return this.#leaveOut(header.name);

    this.report.files++;
    if (header.type === 'file') return this.#tree.file(resolved, facts, body());
    if (header.type === 'symlink' && this.#staysInside(resolved, header.linkName)) {
      return this.#tree.symlink(resolved, header.linkName, facts);
    }
    if (header.type === 'link') {
      const linked = this.#tree.resolve(pathOf(header.linkName, this.#depth));
      // A hard link to a symlink could point elsewhere from its new path.
      if (this.#tree.stat(linked)?.isFile()) return this.#tree.link(resolved, linked, facts);
    }
    this.report.files--;
    return this.#leaveOut(header.name);
  }

  /**
   * `resolved` contains no symlink, so leading `..` resolve literally; after a name they could follow another symlink.
   * Every symlink that is kept points inside, so the names after the dots do too.
   */
  #staysInside(resolved: string, target: ByteString): boolean {
    checkText(target);
    if (target === '' || target.startsWith('/')) return false;
    const names = target.split('/').filter((name) => name !== '' && name !== '.');
    const ups = names.findIndex((name) => name !== '..');
    const leading = ups === -1 ? names.length : ups;
    const parents = resolved.split('/').length - 1;
    return leading <= parents && !names.slice(leading).includes('..');
  }

  #leaveOut(name: string): void {
    const { leftOut } = this.report;
    leftOut.count++;
    if (leftOut.names.length < MAX_NAMES) leftOut.names.push(Buffer.from(name, 'latin1').toString());
  }
}

function ownFacts({ mode, mtimeSecs }: Pick<EntryFacts, 'mode' | 'mtimeSecs'>): EntryFacts {
  return { mode: mode & 0o777, mtimeSecs, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

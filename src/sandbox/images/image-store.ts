/**
 * The images on this disk. Layout under the cache directory:
 *
 *   rootfs/sha256-<chain id>/tree        an unpacked image; image.json beside it, whose mtime is its last use
 *   refs/<hash of a reference>.json      digest of a reference, and the settings of that image
 *   holds/sha256-<chain id>/<process>    one file per process that uses the image
 *   blobs/sha256-<digest>                downloads
 *   erofs/sha256-<chain id>.erofs        the image as a disk, where machines of QEMU use it
 *
 * Everything appears by rename and is never changed afterwards. Several processes may use the directory at once.
 */
import { hash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { z } from 'zod';

import { isAlive, OWN_MARK } from '#host';
import { ifExists } from './if-exists.ts';
import { UNFINISHED, writeSharedFile } from './write-shared-file.ts';

const Settings = z.object({ env: z.array(z.string()), workdir: z.string().optional(), user: z.string().optional() });
const RefRecord = z.object({
  ref: z.string(),
  digest: z.string(),
  source: z.enum(['registry', 'archive', 'built']),
  /** Digests of its downloads. */
  blobs: z.array(z.string()),
  settings: Settings,
});
const TreeRecord = z.object({ bytes: z.number(), entries: z.number(), skipped: z.number() });

/** Settings of an image for the commands that run in it. */
export type ImageSettings = z.infer<typeof Settings>;
export type RefRecord = z.infer<typeof RefRecord>;
/** Counts of an unpacked image. `skipped` counts device nodes and FIFOs. */
export type TreeRecord = z.infer<typeof TreeRecord>;

export interface StoredImage extends RefRecord {
  readonly rootDir: string;
}

export class ImageStore {
  readonly dir: string;
  readonly #uses = new Map<string, number>();

  constructor(dir: string) {
    this.dir = dir;
  }

  get blobsDir(): string {
    return join(this.dir, 'blobs');
  }

  /** The names of all downloads, finished or not. */
  blobs(): string[] {
    return namesIn(this.blobsDir);
  }

  lockPath(key: string): string {
    return join(this.dir, 'locks', hash('sha256', key));
  }

  /** The image of a reference, if its files are cached. */
  find(ref: string): StoredImage | undefined {
    const record = readRecord(this.#refPath(ref), RefRecord);
    return record && this.hasTree(record.digest) ? { ...record, rootDir: this.rootDir(record.digest) } : undefined;
  }

  refs(): RefRecord[] {
    return namesIn(join(this.dir, 'refs')).flatMap((name) => readRecord(join(this.dir, 'refs', name), RefRecord) ?? []);
  }

  setRef(record: RefRecord): void {
    writeSharedFile(this.#refPath(record.ref), `${JSON.stringify(record, null, 2)}\n`);
  }

  removeRef(ref: string): void {
    rmSync(this.#refPath(ref), { force: true });
  }

  rootDir(digest: string): string {
    return join(this.treeDir(digest), 'tree');
  }

  /** The directory of an image, with its record and its tree. */
  treeDir(digest: string): string {
    return join(this.dir, 'rootfs', fileName(digest));
  }

  hasTree(digest: string): boolean {
    return existsSync(join(this.treeDir(digest), 'image.json'));
  }

  treeRecord(digest: string): TreeRecord | undefined {
    return readRecord(join(this.treeDir(digest), 'image.json'), TreeRecord);
  }

  /** The digests of all unpacked images. */
  trees(): string[] {
    return namesIn(join(this.dir, 'rootfs'))
      .filter((name) => name.startsWith('sha256-'))
      .map((name) => name.replace('-', ':'));
  }

  /** Makes the tree of an image unless it exists. `fill` writes into a private directory. */
  async makeTree(digest: string, fill: (rootDir: string) => Promise<TreeRecord>): Promise<void> {
    if (this.hasTree(digest)) return;
    this.removeUnfinished();
    const draft = join(this.dir, 'rootfs', `${UNFINISHED}${OWN_MARK}-${randomUUID()}`);
    try {
      mkdirSync(join(draft, 'tree'), { recursive: true, mode: 0o700 });
      const record = await fill(join(draft, 'tree'));
      writeFileSync(join(draft, 'image.json'), `${JSON.stringify(record, null, 2)}\n`);
      this.#publish(draft, digest);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }

  /** A directory for work in progress; the caller removes it. */
  makeWorkDir(): string {
    const path = join(this.dir, 'work', `${UNFINISHED}${OWN_MARK}-${randomUUID()}`);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** Removes unfinished work of dead processes. */
  removeUnfinished(): void {
    for (const folder of ['rootfs', 'work', 'refs']) {
      for (const name of namesIn(join(this.dir, folder))) {
        const [, mark] = name.split(UNFINISHED);
        const owner = mark?.split('-').slice(0, 2).join('-');
        if (owner !== undefined && !isAlive(owner))
          rmSync(join(this.dir, folder, name), { recursive: true, force: true });
      }
    }
  }

  /** Renames an image away in one step, then deletes it. False when another process removed it. */
  removeTree(digest: string): boolean {
    const trash = join(this.dir, 'rootfs', `${UNFINISHED}${OWN_MARK}-${randomUUID()}`);
    const wasThere = ifExists(() => (renameSync(this.treeDir(digest), trash), true)) ?? false;
    if (!wasThere) return false;
    rmSync(trash, { recursive: true, force: true });
    rmSync(this.#holdsDir(digest), { recursive: true, force: true });
    rmSync(join(this.dir, 'erofs', `${fileName(digest)}.erofs`), { force: true });
    return true;
  }

  /** Undefined if the image was removed. */
  usedAtMs(digest: string): number | undefined {
    return statSync(join(this.treeDir(digest), 'image.json'), { throwIfNoEntry: false })?.mtimeMs;
  }

  /** False if the image was removed: another process may have pruned it since it was found. */
  markUsed(digest: string): boolean {
    const now = new Date();
    return ifExists(() => (utimesSync(join(this.treeDir(digest), 'image.json'), now, now), true)) ?? false;
  }

  hold(digest: string): void {
    const count = this.#uses.get(digest) ?? 0;
    this.#uses.set(digest, count + 1);
    if (count > 0) return;
    mkdirSync(this.#holdsDir(digest), { recursive: true });
    writeFileSync(join(this.#holdsDir(digest), OWN_MARK), '');
  }

  release(digest: string): void {
    const count = this.#uses.get(digest) ?? 0;
    if (count > 1) {
      this.#uses.set(digest, count - 1);
      return;
    }
    this.#uses.delete(digest);
    rmSync(join(this.#holdsDir(digest), OWN_MARK), { force: true });
  }

  /** Removes the holds of dead processes. */
  removeDeadHolds(): void {
    const holds = join(this.dir, 'holds');
    for (const digest of namesIn(holds)) {
      for (const mark of namesIn(join(holds, digest))) {
        if (!isAlive(mark)) rmSync(join(holds, digest, mark), { force: true });
      }
    }
  }

  /** Whether any living process uses the image. */
  isInUse(digest: string): boolean {
    return namesIn(this.#holdsDir(digest)).some(isAlive);
  }

  #publish(draft: string, digest: string): void {
    try {
      renameSync(draft, this.treeDir(digest));
    } catch (error) {
      // Another process was faster: the same digest is the same tree.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    }
  }

  #refPath(ref: string): string {
    return join(this.dir, 'refs', `${hash('sha256', ref)}.json`);
  }

  #holdsDir(digest: string): string {
    return join(this.dir, 'holds', fileName(digest));
  }
}

/** Also undefined for a record that does not parse, or of another version of Workcell: the image is made again. */
function readRecord<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    return ifExists(() => schema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function namesIn(folder: string): string[] {
  return ifExists(() => readdirSync(folder)) ?? [];
}

function fileName(digest: string): string {
  return digest.replace(':', '-');
}

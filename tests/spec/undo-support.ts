/** Calls functions of all workers over one directory with its own journal, and reads the tree that undo must restore. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

import type { CellConfig, WorkerDef } from '#contract';
import { run, tempDir, type TempDir, type TempEntries } from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';
import type { Caller } from '#protocol';

const workers: Pick<WorkerDef, 'functions'>[] = [coder, filesystem, shell];
const functions = workers.flatMap((worker) => worker.functions);

export interface Undone {
  undone: { seq: number; restored: number; removed: number; skipped: number }[];
  redo_seq?: number;
  files: { path: string; kind: string }[];
}

export interface As {
  caller?: string;
  turn?: string;
}

export class UndoCase {
  readonly dir: TempDir;
  cell: Partial<CellConfig>;
  /** Precision of times in `tree`. */
  precisionNs = 1n;

  constructor(dir: TempDir) {
    this.dir = dir;
    this.cell = { state_dir: dir.path('state') };
  }

  static async of(entries: TempEntries): Promise<UndoCase & AsyncDisposable> {
    const inside = Object.entries(entries).map(([path, entry]) => [`ws/${path}`, entry] as const);
    const dir = await tempDir({ 'ws/': '', ...Object.fromEntries(inside) });
    return Object.assign(new UndoCase(dir), { [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() });
  }

  get root(): string {
    return this.dir.path('ws');
  }

  path(name: string): string {
    return this.dir.path(`ws/${name}`);
  }

  /** Calls a function. Paths are relative to the workspace for every worker. */
  async call(id: string, payload: Record<string, unknown>, { caller, turn }: As = {}): Promise<unknown> {
    const [worker] = id.split('::');
    const config = {
      coder: { base_path: this.root },
      filesystem: { paths: [this.root] },
      shell: { fs: { host_root: this.root } },
    }[worker!];
    const sent = worker === 'shell' ? absolute(payload, this.root) : payload;
    const principal: Caller | undefined =
      caller === undefined ? undefined : { id: caller, kind: 'token', label: caller };
    const metadata = turn === undefined ? undefined : { turn_id: turn };
    const fn = functions.find((one) => one.id === id)!;
    const result = (await run(fn, sent, { ...config }, { cell: this.cell, call: { principal, metadata } })) as {
      success?: boolean;
      error?: string;
      results?: { success: boolean; error?: string }[];
    };
    const failed = result.success === false ? result.error : result.results?.find(({ success }) => !success)?.error;
    if (failed !== undefined) throw new Error(`${id}: ${failed}`);
    return result;
  }

  write(path: string, content: string, as?: As): Promise<unknown> {
    return this.call('coder::create-file', { files: [{ path, content, overwrite: true }] }, as);
  }

  /** Replaces a word. */
  edit(path: string, pattern: string, replacement: string, as?: As): Promise<unknown> {
    return this.call('coder::update-file', { files: [{ path, ops: [{ op: 'replace', pattern, replacement }] }] }, as);
  }

  undo(payload: Record<string, unknown> = {}, as?: As): Promise<Undone> {
    return this.call('coder::undo', payload, as) as Promise<Undone>;
  }

  async records(): Promise<
    {
      seq: number;
      function_id?: string;
      files: string[];
      bytes: number;
      skipped: number;
      label?: string;
      caller?: string;
      undone_by?: number;
    }[]
  > {
    return ((await this.call('coder::checkpoints', { limit: 1000 })) as { records: never }).records;
  }

  /** Every path with mode, mtime of files, symlink target and content. */
  tree(): Record<string, string> {
    return this.#all((path) => shown(path, this.precisionNs));
  }

  /** The mtime of every path in nanoseconds, of directories and symlinks too. */
  times(): Record<string, bigint> {
    return this.#all((path) => lstatSync(path, { bigint: true }).mtimeNs);
  }

  #all<T>(show: (path: string) => T): Record<string, T> {
    const paths = readdirSync(this.root, { recursive: true }).map(String).sort();
    return Object.fromEntries(paths.map((path) => [path, show(this.path(path))]));
  }
}

function absolute(payload: Record<string, unknown>, root: string): Record<string, unknown> {
  const keys = ['path', 'src', 'dst'];
  return Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [key, keys.includes(key) ? `${root}/${String(value)}` : value]),
  );
}

function shown(path: string, precisionNs: bigint): string {
  const stat = lstatSync(path, { bigint: true });
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  const mode = (Number(stat.mode) & 0o7777).toString(8);
  return stat.isFile() ? `${mode} ${stat.mtimeNs / precisionNs} ${readFileSync(path, 'latin1')}` : `${mode}/`;
}

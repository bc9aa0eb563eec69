/** A `FileSystem` under test with files in it, made and read by its own operations. */
import { FileFault } from './file-fault.ts';
import type { FileSystem } from './file-system.ts';
import { HostError } from '../host-error.ts';
import { RegexError, ReplacementError } from '../regex/index.ts';

export interface FileSystemUnderTest extends AsyncDisposable {
  readonly files: FileSystem;
  /** An empty directory to work in, absolute. */
  readonly root: string;
  /** Makes a symlink at an absolute path. */
  link(linkTarget: string, path: string): Promise<void>;
}

/** A test that begins with files of these contents. */
export type Within = (entries: Record<string, string>, work: (given: Given) => Promise<void>) => () => Promise<void>;

export const scope = { signal: new AbortController().signal };

export class Given {
  readonly files: FileSystem;
  readonly link: (linkTarget: string, name: string) => Promise<void>;
  readonly #root: string;

  constructor({ files, root, link }: FileSystemUnderTest) {
    this.files = files;
    this.#root = root;
    this.link = (linkTarget, path) => link(linkTarget, this.at(path));
  }

  at(name: string): string {
    return `${this.#root}/${name}`.replace(/\/$/, '');
  }

  write(path: string, ...pieces: string[]): Promise<number> {
    return this.files.write(this.at(path), stream(pieces), { parents: true }, scope);
  }

  async read(path: string): Promise<string> {
    const file = await this.files.read(this.at(path), scope);
    try {
      const pieces: Uint8Array[] = [];
      for await (const piece of file.bytes) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    } finally {
      file.close();
    }
  }

  async names(path = ''): Promise<string[]> {
    const { entries } = await this.files.ls(this.at(path), scope);
    return entries.map(({ name }) => name);
  }

  async mode(path: string): Promise<string> {
    return (await this.files.stat(this.at(path), scope)).mode.toString(8);
  }
}

export async function* stream(pieces: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** `done`, or the reason of the failure. */
export async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (error instanceof HostError || error instanceof FileFault) return error.reason;
    if (error instanceof RegexError || error instanceof ReplacementError) return error.name;
    throw error;
  }
}

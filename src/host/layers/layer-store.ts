/**
 * The changes over one workspace on disk: a directory each, below the state directory, so that they outlive the server.
 *
 * Other servers use the same store. A change appears under its name by one rename, when it is complete.
 */
import { hash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { readReferences } from './git-references.ts';
import { LayerError } from './layer.ts';
import { nameWhenRemoved, sweepRemoved } from './sweep-removed.ts';

export interface LayerMeta {
  readonly outside: 'private' | 'as-is';
  readonly network: 'host' | 'none';
  readonly note: string;
  readonly beganAtMs: number;
}

/** The paths of one change in the store. */
export interface LayerPaths {
  readonly name: string;
  readonly directory: string;
  readonly upper: string;
  readonly work: string;
  readonly pins: string;
  readonly whiteout: string;
  readonly lock: string;
  /** Grows by a byte with each pin. */
  readonly moved: string;
  /** Exists while a commit waits for approval. */
  readonly waiting: string;
  /** Activity of commands beside files. */
  readonly activity: string;
  readonly git: string;
  readonly began: string;
}

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

export function layerStoreOf(stateDir: string, workspace: string): string {
  return join(stateDir, 'changes', hash('sha256', workspace).slice(0, 32));
}

export class LayerStore {
  readonly directory: string;
  readonly workspace: string;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(stateDir: string, workspace: string) {
    this.directory = layerStoreOf(stateDir, workspace);
    this.workspace = workspace;
  }

  pathsOf(name: string): LayerPaths {
    const directory = join(this.directory, name);
    const at = (part: string) => join(directory, part);
    return {
      ...{ name, directory, upper: at('upper'), work: at('work'), pins: at('pins'), whiteout: at('whiteout') },
      ...{ lock: at('lock'), moved: at('moved'), waiting: at('waiting'), git: at('git.json'), began: at('began') },
      activity: at('activity.jsonl'),
    };
  }

  /** Names of the existing changes, sorted. */
  names(): string[] {
    try {
      return readdirSync(this.directory)
        .filter((name) => NAME.test(name))
        .sort();
    } catch (error) {
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  has(name: string): boolean {
    return NAME.test(name) && statSync(this.pathsOf(name).directory, { throwIfNoEntry: false }) !== undefined;
  }

  /** Makes the directories of a change. Throws `malformed` if the name is taken. */
  make(given: string | undefined, meta: Omit<LayerMeta, 'beganAtMs'>): LayerPaths {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.directory, '.workspace'), `${this.workspace}\n`, { mode: 0o600 });
    const made = this.pathsOf(`.new-${randomBytes(8).toString('hex')}`);
    try {
      this.#fill(made, meta);
    } catch (error) {
      this.remove(made);
      throw error;
    }
    return this.#put(made, given);
  }

  #fill(made: LayerPaths, meta: Omit<LayerMeta, 'beganAtMs'>): void {
    for (const path of [made.directory, made.upper, made.work, made.pins]) mkdirSync(path, { mode: 0o700 });
    // The root of the view has the attributes of the upper directory.
    chmodSync(made.upper, statSync(this.workspace).mode & 0o7777);
    const all: LayerMeta = { ...meta, beganAtMs: Date.now() };
    writeFileSync(join(made.directory, 'meta.json'), JSON.stringify(all));
    for (const path of [made.lock, made.moved]) writeFileSync(path, '', { mode: 0o600 });
    const references = readReferences(this.workspace);
    if (references) writeFileSync(made.git, JSON.stringify(references));
    // Made last: a file that changed while the others were made counts as changed before the begin.
    writeFileSync(made.began, '');
  }

  #put(made: LayerPaths, given: string | undefined): LayerPaths {
    for (;;) {
      const paths = this.pathsOf(given ?? `c-${randomBytes(3).toString('hex').slice(0, 4)}`);
      try {
        renameSync(made.directory, paths.directory);
        return paths;
      } catch (error) {
        const isTaken = isCode(error, 'ENOTEMPTY') || isCode(error, 'EEXIST');
        if (isTaken && given === undefined) continue;
        this.remove(made);
        if (!isTaken) throw error;
        throw new LayerError('malformed', `a change named ${given} is open already`, {
          fix: { name: this.#free(given!) },
        });
      }
    }
  }

  #free(name: string): string {
    for (let number = 2; ; number++) {
      const free = `${name.slice(0, 60)}-${number}`;
      if (!this.has(free)) return free;
    }
  }

  metaOf({ directory }: LayerPaths): LayerMeta {
    return JSON.parse(readFileSync(join(directory, 'meta.json'), 'utf8')) as LayerMeta;
  }

  beganAtCtimeNs({ began }: LayerPaths): bigint {
    return lstatSync(began, { bigint: true }).ctimeNs;
  }

  lastUsedMs({ lock }: LayerPaths): number {
    return statSync(lock).mtimeMs;
  }

  touch({ lock }: LayerPaths): void {
    const now = Date.now() / 1000;
    utimesSync(lock, now, now);
  }

  /** Removes a change: unlists it at once, deletes it soon; the next removal sweeps leftovers of a killed process. */
  remove(paths: LayerPaths): void {
    try {
      renameSync(paths.directory, join(this.directory, nameWhenRemoved(randomBytes(8).toString('hex'))));
    } catch (error) {
      if (isCode(error, 'ENOENT')) return;
      throw error;
    }
    this.#sweeping = this.#sweeping.then(() => sweepRemoved(this.directory)).catch(() => {});
  }

  /** Resolves when the removed changes are gone from the disk. */
  swept(): Promise<void> {
    return this.#sweeping;
  }
}

export function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

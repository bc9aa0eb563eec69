/**
 * The file that lists the steps of a write set, one line each, written before the step is made; staged steps are written
 * many at once.
 *
 * It exists until the set is in the log or rolled back, so that the next start can recover after a crash.
 */
import {
  closeSync,
  constants,
  fsync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';

import { isAlive, OWN_MARK, PID_SPACE } from '../system/process-mark.ts';
import type { Step } from './set-steps.ts';
import type { ImageStore } from './store.ts';

/** A write set that a process did not finish. */
export interface LeftSet {
  readonly name: string;
  readonly seq: number;
  readonly steps: Step[];
}

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;

/** Age at which a set of another container counts as abandoned. */
const STRANGER_MS = 3_600_000;

const syncLater = promisify(fsync);

/** A process that is killed leaves so many staged files that no start removes; the next write beside them does. */
const MOST_LINES = 32;

export class PreparedFile {
  readonly steps: Step[] = [];
  readonly #path: string;
  readonly #directory: string;
  readonly #fd: number;
  /** Lines of steps that are not written yet. */
  #lines: string[] = [];

  constructor(store: ImageStore, seq: number) {
    this.#path = store.pathOf('prepared', `${seq}`);
    this.#directory = store.preparedDir;
    this.#fd = openSync(this.#path, FLAGS, 0o600);
    try {
      this.#write(lineOf({ seq, owner: OWN_MARK, space: PID_SPACE }));
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** The step must not be made before `flush`. */
  add(step: Step): void {
    this.steps.push(step);
    if (this.#lines.push(lineOf(step)) >= MOST_LINES) this.flush();
  }

  flush(): void {
    if (this.#lines.length === 0) return;
    const lines = this.#lines;
    this.#lines = [];
    this.#write(lines.join(''));
  }

  /** Syncs the steps added so far, and the directory entry of the file. */
  async sync(): Promise<void> {
    this.flush();
    await syncLater(this.#fd);
    const directory = openSync(this.#directory, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await syncLater(directory);
    } finally {
      closeSync(directory);
    }
  }

  remove(): void {
    closeSync(this.#fd);
    unlinkSync(this.#path);
  }

  #write(lines: string): void {
    const bytes = Buffer.from(lines);
    if (writeSync(this.#fd, bytes) === bytes.length) return;
    throw Object.assign(new Error('no space left for the steps of a write set'), { code: 'ENOSPC', errno: 0 });
  }
}

function lineOf(of: object): string {
  return `${JSON.stringify(of)}\n`;
}

/** The sets whose processes have exited. */
export function leftSets(store: ImageStore): LeftSet[] {
  const names = readdirSync(store.preparedDir).filter((name) => /^\d+$/.test(name));
  return names.flatMap((name) => {
    const seq = Number(name);
    const [head, ...steps] = linesOf(readFileSync(store.pathOf('prepared', name), 'utf8'));
    if (!head) return [{ name, seq, steps: [] }];
    const { owner, space } = head as { owner: string; space: string };
    return isUnderWay(store, name, { owner, space }) ? [] : [{ name, seq, steps: steps as Step[] }];
  });
}

/** Processes of another container cannot be checked, so their sets count as running for an hour. */
function isUnderWay(store: ImageStore, name: string, { owner, space }: { owner: string; space: string }): boolean {
  if (space === PID_SPACE) return isAlive(owner);
  return Date.now() - statSync(store.pathOf('prepared', name)).mtimeMs < STRANGER_MS;
}

/** Drops incomplete lines, such as of a full disk or a power cut: their steps were not made. */
function linesOf(text: string): unknown[] {
  const lines = text.split('\n');
  lines.pop();
  return lines.flatMap((line) => parsed(line) ?? []);
}

function parsed(line: string): object | undefined {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Refuses a change of a directory that has a refused entry anywhere below, by names and kinds alone.
 *
 * The kernel returns hundreds of names with their kinds for one call, so that a directory of thousands of files is
 * checked in milliseconds. Every directory is opened in its pinned parent, and no symlink is followed.
 */
import { closeSync } from 'node:fs';

import { HostError } from '../host-error.ts';
import { Turns } from '../search/turns.ts';
import type { SystemCalls } from '../system/system-calls.ts';
import type { ByteString } from '../text/byte-string.ts';
import { eachName } from '../walk/kernel-entries.ts';
import { LIST_FLAGS } from '../walk/walk-dir-by-syscalls.ts';
import { changeBelow, type BelowOptions } from './jail-tree-walk.ts';
import type { JailEntry } from './jail-entry.ts';
import { pathInside, type Pin } from './pin.ts';

const TURN_MS = 5;

/** Throws if any entry below a directory is refused; returns how many there are, 0 if it is not a directory. */
export async function refuseNamesBelow(entry: JailEntry, options: BelowOptions): Promise<number> {
  if (!entry.stat?.isDirectory()) return 0;
  using dir = entry.openDir();
  const { calls } = dir.pin;
  const fd = calls && openToList(dir.pin);
  if (fd !== undefined) {
    const names = new NamesBelow(calls!, options);
    if (await names.pass(fd, dir.relativePath)) return names.count;
  }
  // On failure the ordinary walk follows, which reports the reason.
  let count = 0;
  await changeBelow(dir, options, { after: () => void count++ });
  return count;
}

const ITSELF = '.' as ByteString;

function openToList(pin: Pin): number | undefined {
  try {
    return pin.openChild(ITSELF, LIST_FLAGS);
  } catch {
    return undefined;
  }
}

class NamesBelow {
  readonly #calls: SystemCalls;
  readonly #refusal: BelowOptions['refusal'];
  readonly #turns: Turns;
  count = 0;
  readonly #room = Buffer.allocUnsafe(65_536);

  constructor(calls: SystemCalls, { refusal, signal }: BelowOptions) {
    this.#calls = calls;
    this.#refusal = refusal;
    this.#turns = new Turns(signal, TURN_MS);
  }

  /** Closes the directory. False if it, or one below, cannot be listed. */
  async pass(fd: number, path: string): Promise<boolean> {
    try {
      const inner = this.#directoriesIn(fd, path);
      for (const name of inner ?? []) {
        if (this.#turns.isOver) await this.#turns.next();
        const child = this.#calls.openAt(fd, name, LIST_FLAGS);
        if (child === undefined || !(await this.pass(child, pathInside(path, name)))) return false;
      }
      return inner !== undefined;
    } finally {
      closeSync(fd);
    }
  }

  #directoriesIn(fd: number, path: string): ByteString[] | undefined {
    const directories: ByteString[] = [];
    let isKnown = true;
    for (;;) {
      const length = this.#calls.readEntries(fd, this.#room);
      if (length === undefined || !isKnown) return undefined;
      if (length === 0) return directories;
      eachName(this.#room.subarray(0, length), (name, kind) => {
        this.count++;
        const below = pathInside(path, name);
        const refusal = this.#refusal(below);
        if (refusal) throw new HostError(refusal, below);
        if (kind === 'directory') directories.push(name);
        isKnown &&= kind !== 'unknown';
      });
    }
  }
}

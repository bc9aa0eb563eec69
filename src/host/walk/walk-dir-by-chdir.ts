/**
 * Directories of a walk whose files are opened after a chdir, by their bare names.
 *
 * As safe as through the descriptor, because the chdir goes to the object of that descriptor, and at half the cost per
 * file. Only for a process that does nothing else, because the whole process shares its working directory.
 */
import { openSync } from 'node:fs';

import type { ByteString } from '../text/byte-string.ts';
import type { JailMode } from '../jail/jail.ts';
import type { View } from '../layers/layer.ts';
import {
  DescriptorDir,
  DIR_FLAGS,
  FILE_FLAGS,
  joinPath,
  toPath,
  walkDirsBelow,
  type OpenWalkDir,
  type WalkDir,
} from './walk-dir.ts';

let lastId = 0;

/** Id of the current directory; 0 if it is none of a walk. Not the descriptor: those are reused. */
let entered = 0;

/** As `walkDirsBelow`. */
export function enteredDirsBelow(root: ByteString, mode: JailMode, view?: Pick<View, 'fd' | 'mountId'>): OpenWalkDir {
  return walkDirsBelow(root, mode, { OpenedDir: EnteredDir, view });
}

/** An idle process must not keep a directory busy. */
export function leaveEnteredDir(): void {
  if (entered === 0) return;
  process.chdir('/');
  entered = 0;
}

class EnteredDir extends DescriptorDir {
  readonly #id = ++lastId;

  override get listPath(): string {
    this.#enter();
    return '.';
  }

  override openFile(name: ByteString): number {
    this.#enter();
    return openSync(toPath(name), FILE_FLAGS);
  }

  override openDir(name: ByteString): WalkDir {
    const path = entered === this.#id ? name : `${this.descriptorPath}/${name}`;
    return new EnteredDir(joinPath(this.path, name), openSync(toPath(path), DIR_FLAGS));
  }

  #enter(): void {
    if (entered === this.#id) return;
    process.chdir(this.descriptorPath);
    entered = this.#id;
  }
}

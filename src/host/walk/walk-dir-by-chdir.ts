/**
 * Directories of a walk whose files are opened from within: the process goes there and opens them by their bare names.
 *
 * As safe as through the held descriptor, since it goes to the held object, and for a file half of the cost. Only for a
 * process that does nothing else, because the place where it is belongs to all of it.
 */
import { openSync } from 'node:fs';

import type { ByteString } from '../text/byte-string.ts';
import type { JailMode } from '../jail/jail.ts';
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

/** Which directory this process is in; 0 when it is none of these. A descriptor's number would be used again. */
let entered = 0;

/** As `walkDirsBelow`. */
export function enteredDirsBelow(root: ByteString, mode: JailMode): OpenWalkDir {
  return walkDirsBelow(root, mode, EnteredDir);
}

/** So that no directory is kept busy by a process that waits. */
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
    const path = entered === this.#id ? name : `${this.heldPath}/${name}`;
    return new EnteredDir(joinPath(this.path, name), openSync(toPath(path), DIR_FLAGS));
  }

  #enter(): void {
    if (entered === this.#id) return;
    process.chdir(this.heldPath);
    entered = this.#id;
  }
}

/**
 * Runs a query on parts of a walk, in order, in any process.
 *
 * It can stop before any file and return the rest, so that a search can move to another process and one directory can
 * be split among several.
 */
import { toText, type ByteString } from '../../text/byte-string.ts';
import { joinPath, type OpenWalkDir, type WalkDir } from '../../walk/walk-dir.ts';
import type { WalkPart } from '../../walk/walk-part.ts';
import { Walk, type WalkOptions } from '../../walk/walk.ts';
import type { FileSearch } from './file-search.ts';
import type { FindingsWriter } from '../findings.ts';

/** Searched and skipped paths. */
export interface Scope extends WalkOptions {
  /** Whether a file belongs to the search, by its path from the root; undefined when all do. */
  readonly accepts?: (relativePath: string) => boolean;
}

export type ScanEnd =
  | 'done'
  /** `isOver` returned true. */
  | 'over'
  /** It stopped in the middle of a huge directory; ending the scan there would list that again. */
  | 'listing'
  /** The findings fill the answer, so the scan is complete. */
  | 'full'
  /** The next file is left to another process. */
  | 'too-large';

/** A directory costs as much as this many small files. */
const FOLDER_WORK = 2;

export class TreeScan {
  readonly #walk: Walk;
  readonly #files: FileSearch;
  readonly #accepts: Scope['accepts'];

  constructor(files: FileSearch, openDir: OpenWalkDir, parts: readonly WalkPart[], scope: Scope) {
    this.#files = files;
    this.#accepts = scope.accepts;
    this.#walk = new Walk(openDir, parts, scope);
  }

  /** Continues until `isOver`, called with the work done so far, returns true. */
  run(writer: FindingsWriter, isOver: (work: number) => boolean): ScanEnd {
    let work = 0;
    for (let step = this.#walk.next(); step; step = this.#walk.next()) {
      if (step.kind === 'pause') return 'listing';
      if (step.kind === 'skipped') writer.addSkipped(toText(step.path), step.reason);
      if (step.kind === 'folder' && isOver((work += FOLDER_WORK))) return 'over';
      if (step.kind !== 'files') continue;
      for (const [i, name] of step.names.entries()) {
        const end = isOver(work++) ? 'over' : this.#searchFile(step.dir, name, writer);
        if (!end) continue;
        this.#walk.putBack(step.names.length - i);
        return end;
      }
    }
    return 'done';
  }

  /** Ends the scan; returns the rest. */
  leave(): WalkPart[] {
    return this.#walk.leave();
  }

  #searchFile(dir: WalkDir, name: ByteString, writer: FindingsWriter): ScanEnd | undefined {
    if (this.#accepts && !this.#accepts(toText(joinPath(dir.path, name)))) return undefined;
    if (writer.isFull) return 'full';
    return this.#files.search(dir, name, writer) ? undefined : 'too-large';
  }
}

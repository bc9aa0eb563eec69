/** The files of one call of edit in memory, as its edits change them one after the other before anything is written. */
import { isUtf8 } from 'node:buffer';

import { diffLines, HostError, versionOf } from '#host';
import { errors } from '../errors.ts';
import type { AgentContext } from '../worker.ts';

/** Limit for all files together. */
const MAX_KEPT_BYTES = 1 << 28;

export class EditedFile {
  /** The path in the spelling of the jail. */
  readonly path: string;
  readonly version: string;
  readonly #before: string;
  text: string;
  count = 0;

  constructor(path: string, bytes: Buffer) {
    this.path = path;
    this.version = versionOf(bytes);
    this.#before = bytes.toString();
    this.text = this.#before;
  }

  get content(): Buffer {
    return Buffer.from(this.text);
  }

  get newVersion(): string {
    return versionOf(this.content);
  }

  get isCrlf(): boolean {
    return this.text.includes('\r\n');
  }

  /** Which lines of the file differ from before: their positions and their number. */
  report(mostPlaces: number) {
    const { places, added, removed } = compare(this.#before.split('\n'), this.text.split('\n'), mostPlaces);
    return { path: this.path, kind: 'modified' as const, places, count: this.count, added, removed };
  }
}

export class EditedFiles {
  readonly #files = new Map<string, EditedFile>();
  readonly #context: Pick<AgentContext, 'jail' | 'maxFileBytes'>;
  #keptBytes = 0;

  constructor(context: Pick<AgentContext, 'jail' | 'maxFileBytes'>) {
    this.#context = context;
  }

  get all(): EditedFile[] {
    return [...this.#files.values()];
  }

  /** Throws `HostError` for the path. */
  async open(path: string): Promise<EditedFile> {
    const { jail, maxFileBytes } = this.#context;
    using target = jail.target(path);
    const spelled = jail.spell(target);
    const known = this.#files.get(spelled);
    if (known) return known;
    if (!target.stat) throw new HostError('missing', path);

    using file = target.open();
    const { size } = file;
    if (size > maxFileBytes) throw errors.fail('A213', { path, size, limit: maxFileBytes });
    this.#keptBytes += size;
    if (this.#keptBytes > MAX_KEPT_BYTES) {
      throw errors.fail('A210', { problem: `the files hold more than ${MAX_KEPT_BYTES} bytes together; edit fewer` });
    }
    const bytes = await file.read();
    if (!isUtf8(bytes)) throw errors.fail('A210', { problem: `${path} is not UTF-8 text` });
    const made = new EditedFile(spelled, bytes);
    this.#files.set(spelled, made);
    return made;
  }
}

/** Counts added and removed lines, and lists where changes begin, by lines of the new text. */
function compare(before: string[], after: string[], mostPlaces: number) {
  const places: number[] = [];
  let [line, added, removed, isInside] = [1, 0, 0, false];
  for (const { 0: sign } of diffLines(before, after)) {
    const isChange = sign !== ' ';
    if (isChange && !isInside && places.length < mostPlaces) places.push(line);
    isInside = isChange;
    if (sign === '+') added++;
    if (sign === '-') removed++;
    else line++;
  }
  return { places, added, removed };
}

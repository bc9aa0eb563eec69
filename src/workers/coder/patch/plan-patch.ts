/**
 * Plans a patch: computes the new content of each file before anything is written, so that a failure changes nothing.
 *
 * Each section applies to the result of the sections above it.
 */
import { Failure } from '#contract';
import { contentChange, countLines, HostError, NOTHING_THERE, versionAside, type SetEntry, type Turns } from '#host';
import type { Change } from '#protocol';
import { errors } from '../errors.ts';
import type { CoderContext } from '../worker.ts';
import { applyEdits } from './apply-edits.ts';
import { echoOf, type Echo } from './echo.ts';
import { failMisfits, type FileMisfit } from './fail-misfits.ts';
import { FileStates, type Expected, type FileState } from './file-states.ts';
import type { Fuzz } from './levels.ts';
import { LINES_AT_ONCE, signedLines, type FilePatch, type Patch } from './patch.ts';
import { MAX_MISFITS, placeChunks, type PlacedChunk } from './place-chunks.ts';
import { Source } from './source.ts';

const MAX_FILES = 10_000;
const BOM = '\uFEFF';

/** Result of one section, as the response reports it. */
export interface FileResult {
  path: string;
  kind: 'added' | 'modified' | 'deleted' | 'moved';
  from?: string;
  new_line_count?: number;
  version?: string;
  echo?: Echo;
  chunks: PlacedChunk[];
}

export interface Plan {
  /** Entries in the order of the patch. */
  readonly entries: SetEntry[];
  readonly results: FileResult[];
  /** Builds the change reports; only on request, because comparing the contents takes longer than planning. */
  readonly changes: () => Change[];
}

export interface Planning {
  readonly context: CoderContext;
  readonly fuzz: Fuzz;
  readonly expected: Expected;
  readonly turns: Turns;
}

/** Throws C222 for chunks without a match, and the error of any file that cannot be patched. */
export async function planPatch(patch: Patch, planning: Planning): Promise<Plan> {
  if (patch.files.length > MAX_FILES) {
    throw errors.fail('C210', { problem: `a patch may change ${MAX_FILES} files, not ${patch.files.length}` });
  }
  requireNamed(patch, planning.expected);
  const planner = new Planner(patch, planning);
  for (const file of patch.files) await planner.take(file);
  return await planner.finish();
}

function requireNamed({ files }: Patch, { versions }: Expected): void {
  const named = new Set(files.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to])));
  const other = [...versions.keys()].find((path) => !named.has(path));
  if (other === undefined) return;
  const problem = `\`expected_versions\` has ${JSON.stringify(other)}, which the patch does not name; write paths as the patch does`;
  throw errors.fail('C210', { problem });
}

class Planner {
  readonly #patch: Patch;
  readonly #planning: Planning;
  readonly #states: FileStates;
  readonly #entries: SetEntry[] = [];
  readonly #results: (FileResult & { state: FileState })[] = [];
  readonly #misfits: FileMisfit[] = [];

  constructor(patch: Patch, planning: Planning) {
    this.#patch = patch;
    this.#planning = planning;
    this.#states = new FileStates(planning.context, planning.expected);
  }

  /** Plans a section. Its error is reported only if all chunks above match; otherwise theirs are. */
  async take(file: FilePatch): Promise<void> {
    try {
      await this.#plan(file);
    } catch (error) {
      const isAnswer = error instanceof HostError || error instanceof Failure;
      throw isAnswer && this.#misfits.length > 0 ? failMisfits(this.#misfits, this.#patch.lines) : error;
    }
  }

  async #plan(file: FilePatch): Promise<void> {
    if (this.#planning.turns.isOver) await this.#planning.turns.next();
    if (file.kind === 'add') await this.#add(file);
    else if (file.kind === 'delete') await this.#delete(file);
    else if (file.to === undefined) await this.#update(file);
    else await this.#move(file, file.to);
  }

  async finish(): Promise<Plan> {
    if (this.#misfits.length > 0) throw failMisfits(this.#misfits, this.#patch.lines);
    const results: FileResult[] = [];
    for (const { state, ...result } of this.#results) {
      if (this.#planning.turns.isOver) await this.#planning.turns.next();
      const { made } = state;
      results.push(made ? { ...result, new_line_count: countLines(made), version: await versionAside(made) } : result);
    }
    return { entries: this.#entries, results, changes: () => this.#results.flatMap(changeOf) };
  }

  async #add(file: FilePatch): Promise<void> {
    const { path, mode } = file;
    const state = await this.#states.target(path);
    const kind = state.isThere ? 'modified' : 'added';
    const content = Buffer.from(await this.#contentOf(file));
    this.#states.put(state, content);
    this.#entries.push({
      kind: 'write',
      path,
      content,
      ...modeOf(mode),
      ...expectedOf(state, { isNew: kind === 'added' }),
    });
    this.#results.push({ path, kind, chunks: [], state });
  }

  /** Lines end as in the patch, unless its headers end with CRLF too: then the whole patch was converted. */
  async #contentOf({ chunks, index }: FilePatch): Promise<string> {
    const { turns } = this.#planning;
    const { withReturn } = this.#patch;
    const keepsReturns = withReturn.size > 0 && !withReturn.has(index);
    const endOf = (line: number) => (keepsReturns && withReturn.has(line) ? '\r\n' : '\n');
    const pieces: string[] = [];
    const lines: string[] = [];
    for (const { from, until } of chunks) {
      for (let at = from; at < until; at += LINES_AT_ONCE) {
        if (turns.isOver) await turns.next();
        const part = { from: at, until: Math.min(at + LINES_AT_ONCE, until) };
        for (const { text, index: at } of signedLines(this.#patch.lines, part)) lines.push(text, endOf(at));
        pieces.push(lines.splice(0).join(''));
      }
    }
    const content = pieces.join('');
    return chunks.at(-1)?.lacksNewline ? content.slice(0, -1) : content;
  }

  /** If the section lists removed lines, they must be all lines of the file. */
  async #delete(file: FilePatch): Promise<void> {
    const { path } = file;
    const state = await this.#existing(path);
    const edited = await this.#edit(file, state);
    if (edited && edited.text !== '' && edited.text !== BOM) {
      const problem = `${path} has more lines than the patch removes; send "deleted file mode" without lines, or all lines`;
      throw errors.fail('C210', { problem });
    }
    this.#entries.push({ kind: 'delete', path, ...expectedOf(state) });
    this.#states.remove(state);
    this.#results.push({ path, kind: 'deleted', chunks: edited?.placed ?? [], state });
  }

  async #update(file: FilePatch): Promise<void> {
    const { path, mode } = file;
    const state = file.chunks.length > 0 ? await this.#states.target(path) : await this.#existing(path);
    const edited = await this.#edit(file, state);
    if (edited) {
      const content = Buffer.from(edited.text);
      this.#entries.push({ kind: 'write', path, content, ...modeOf(mode), ...expectedOf(state) });
      this.#states.put(state, content);
    } else if (mode !== undefined) {
      refuseLink(state);
      this.#entries.push({ kind: 'mode', path, mode });
    }
    this.#report({ path, kind: 'modified' }, edited, state);
  }

  async #move(file: FilePatch, to: string): Promise<void> {
    const { path, mode } = file;
    const [state, destination] = [await this.#existing(path), await this.#states.entry(to)];
    if (state === destination) return this.#update(file);
    refuseLink(state);
    refuseLink(destination);
    const edited = await this.#edit(file, state);
    const content = edited && Buffer.from(edited.text);
    this.#entries.push({ kind: 'move', path, to, ...(content && { content }), ...expectedOf(state) });
    if (mode !== undefined) this.#entries.push({ kind: 'mode', path: to, mode });
    if (content) this.#states.put(state, content);
    this.#states.move(state, destination);
    this.#report({ path: to, kind: 'moved', from: path }, edited, destination);
  }

  #report(result: Omit<FileResult, 'chunks'>, edited: Edited | undefined, state: FileState): void {
    const echo = edited?.echo;
    this.#results.push({ ...result, ...(echo && { echo }), chunks: edited?.placed ?? [], state });
  }

  async #existing(path: string): Promise<FileState> {
    const state = await this.#states.entry(path);
    if (!state.isThere) throw new HostError('missing', path);
    return state;
  }

  /** Applies the chunks to the text. Undefined without chunks, or if one has no match; that is kept in `#misfits`. */
  async #edit(file: FilePatch, state: FileState): Promise<Edited | undefined> {
    if (file.chunks.length === 0) return undefined;
    const { fuzz, turns } = this.#planning;
    const bytes = await this.#states.read(state);
    const source = await Source.of(bytes.toString(), turns);
    const maxMisfits = MAX_MISFITS - this.#misfits.length;
    const options = { chunks: file.chunks, lines: this.#patch.lines, fuzz, maxMisfits };
    const { edits, placed, misfits } = await placeChunks(source, options, turns);
    for (const misfit of misfits)
      this.#misfits.push({ ...misfit, file: file.path, version: await versionAside(bytes) });
    if (this.#misfits.length >= MAX_MISFITS) throw failMisfits(this.#misfits, this.#patch.lines);
    if (misfits.length > 0) return undefined;
    return { text: applyEdits(source, edits), placed, echo: echoOf(source, { edits, placed }) };
  }
}

interface Edited {
  text: string;
  placed: PlacedChunk[];
  echo: Echo | undefined;
}

function changeOf({ path, kind, from, state }: FileResult & { state: FileState }): Change[] {
  if (kind === 'moved') return [{ path, kind: 'renamed', from: from! }];
  if (kind === 'deleted') return [{ path, kind: 'deleted', ...(state.stat && { before: { bytes: state.stat.size } }) }];
  const change = state.made && contentChange({ path, stat: state.stat }, state.before, state.made);
  return change ? [change] : [];
}

function modeOf(mode: number | undefined): { mode?: number } {
  return mode === undefined ? {} : { mode };
}

/** Version that the write set requires on the disk; none for a file that an earlier section changed. */
function expectedOf(state: FileState, { isNew = false } = {}): { expected?: string } {
  const { isTouched, version } = state;
  state.isTouched = true;
  if (isTouched) return {};
  if (isNew) return { expected: NOTHING_THERE };
  return version === undefined ? {} : { expected: version };
}

function refuseLink({ path, isLink }: FileState): void {
  if (!isLink) return;
  throw errors.fail('C210', { problem: `${path} is a symlink; use the path of its target` });
}

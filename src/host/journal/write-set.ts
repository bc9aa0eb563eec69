/**
 * Changes several files, all or nothing, even if the process is killed.
 *
 * Order: check and stage every entry, sync the list of steps (`prepared-file.ts`), make the steps one by one, append the
 * record to the log. An error before the record rolls the set back; after a crash the next start does it (`recover.ts`).
 * A roll back renames where it can, which takes no space; the next set completes one that a full disk stopped.
 */
import { isEmptySum } from '../changes/tree-sum.ts';
import { HostError, isErrno } from '../host-error.ts';
import type { Jail } from '../jail/jail.ts';
import { Turns } from '../search/turns.ts';
import type { Journal } from './journal.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { makeStep, stageStep } from './make-step.ts';
import type { OpenRecord } from './open-record.ts';
import { PreparedFile } from './prepared-file.ts';
import { isLost, type JournalChange, type State } from './records.ts';
import type { SetChange, SetEntry, SetOutcome } from './set-entry.ts';
import { planEntry } from './set-plan.ts';
import type { PlannedAt, PlanScope } from './set-checks.ts';
import { dropAside, takeBack, type Step, type TakenBack } from './set-steps.ts';

export interface SetScope {
  readonly jail: Jail;
  readonly journal: Journal;
  readonly record: OpenRecord;
  /** Canonical paths of the entries, as far as they resolved when their locks were taken. */
  readonly keyOf: ReadonlyMap<string, string>;
  /** Syncs files, directories and log before the set returns. */
  readonly isSynced: boolean;
  /** Refuses paths through a symlink, even one that resolves inside the root. */
  readonly isExact: boolean;
  readonly signal: AbortSignal;
}

/** Files staged in parallel: waiting for the disk for one file at a time takes several times longer. */
const LANES = 32;

const TURN_MS = 5;

const NOT_RESTORED =
  'undo cannot bring the former content back: it was larger than journal.max_image_bytes or could not be read';

/** Runs a write set. The caller holds the locks of the paths. */
export async function runSet(entries: readonly SetEntry[], scope: SetScope): Promise<SetOutcome> {
  const { jail, journal, record, isSynced } = scope;
  await journal.rollBackLeft();
  const prepared = begin(scope, entries);
  const plan: PlanScope = { ...scope, prepared };
  let tooLarge: readonly string[] = [];
  let steps: readonly Step[] = [];
  try {
    const turns = new Turns(scope.signal, TURN_MS);
    const todo = await planAll(entries.flatMap(expanded), plan, { turns, keyOf: scope.keyOf });
    if (isSynced) await prepared.sync();
    for (const { entry, planned } of todo) {
      if (turns.isOver) await turns.next();
      const step = planned ?? (await planLate(entry, plan));
      if (step) await makeStep(step, plan);
    }
    if (isSynced) await syncDirectories(prepared.steps, jail);
    const recorded = prepared.steps.map((step) => ({ ...step }));
    tooLarge = forgetLarge(recorded, journal);
    await finish(recorded, scope);
    steps = recorded;
  } catch (error) {
    const { left, isFull } = await rollBack(prepared, scope);
    if (isFull) journal.unfinished.add(async () => !(await rollBack(prepared, scope)).isFull);
    if (left.length > 0) throw new HostError('io', left[0]!, error as NodeJS.ErrnoException);
    throw isErrno(error) ? HostError.fromErrno(error, entries[0]?.path ?? '') : error;
  }
  prepared.remove();
  // Leftovers that cannot be removed now are swept like any temporary file of a process.
  for (const step of prepared.steps) await dropAside(jail, step).catch(() => {});
  for (const image of tooLarge) journal.store.drop(image);
  const isKept = journal.limits.maxRecords > 0 && (steps.length > 0 || scope.isExact);
  if (!isKept) forget(steps, scope);
  return { ...(isKept && { seq: record.seq }), changes: steps.map(reported) };
}

async function rollBack(prepared: PreparedFile, { jail, journal }: SetScope): Promise<TakenBack> {
  const taken = await takeBack(jail, journal.store, prepared.steps);
  if (taken.isFull) return taken;
  for (const { before } of prepared.steps) dropImage(before, journal);
  prepared.remove();
  return taken;
}

function begin({ journal, record }: SetScope, entries: readonly SetEntry[]): PreparedFile {
  try {
    return new PreparedFile(journal.store, record.seq);
  } catch (error) {
    throw HostError.fromErrno(error, entries[0]?.path ?? '');
  }
}

interface Todo {
  readonly entry: SetEntry;
  /** Undefined for an entry that depends on an earlier step. */
  readonly planned?: PlannedAt;
}

/** Plans and stages all entries but those that depend on an earlier step, which are planned after that step is made. */
async function planAll(
  entries: readonly SetEntry[],
  plan: PlanScope,
  { turns, keyOf }: { turns: Turns; keyOf: SetScope['keyOf'] },
): Promise<Todo[]> {
  const todo: Todo[] = [];
  const touched = new Touched();
  const staging = new ConcurrencyLimit(LANES);
  try {
    for (const entry of entries) {
      if (turns.isOver) await turns.next();
      const paths = pathsOf(entry).map((path) => keyOf.get(path));
      if (touched.meets(paths)) todo.push({ entry });
      else {
        const planned = await planEntry(entry, plan);
        if (planned) await staging.start(stageStep(planned, plan));
        if (planned) todo.push({ entry, planned });
      }
      touched.add(paths);
    }
  } finally {
    // Even if planning fails: a file staged after the roll back would not be removed.
    await staging.ended();
  }
  return todo;
}

async function planLate(entry: SetEntry, plan: PlanScope): Promise<PlannedAt | undefined> {
  const planned = await planEntry(entry, plan);
  if (planned) await stageStep(planned, plan);
  return planned;
}

/** Splits a move with new content into a write of the new path and a delete of the old one. */
function expanded(entry: SetEntry): SetEntry[] {
  if (entry.kind !== 'move' || entry.content === undefined) return [entry];
  const { path, to, content, expected } = entry;
  return [
    { kind: 'write', path: to, content, like: path },
    { kind: 'delete', path, expected },
  ];
}

function pathsOf(entry: SetEntry): string[] {
  return entry.kind === 'move' ? [entry.path, entry.to] : [entry.path];
}

/** Paths that earlier steps change, and their parent directories. */
class Touched {
  readonly #paths = new Set<string>();
  readonly #above = new Set<string>();

  meets(paths: readonly (string | undefined)[]): boolean {
    return paths.some(
      (path) =>
        (path === undefined && this.#paths.size > 0) ||
        (path !== undefined &&
          (this.#paths.has(path) || this.#above.has(path) || foldersOf(path).some((above) => this.#paths.has(above)))),
    );
  }

  add(paths: readonly (string | undefined)[]): void {
    for (const path of paths) {
      if (path === undefined) continue;
      this.#paths.add(path);
      for (const above of foldersOf(path)) this.#above.add(above);
    }
  }
}

function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) folders.push(path.slice(0, end));
  return folders;
}

/** Appends the record to the log; from then on recovery does not roll the set back. */
async function finish(steps: readonly Step[], { journal, record, isSynced, isExact }: SetScope): Promise<void> {
  // An undo gets a record even if it changes nothing, so that its records are marked as undone.
  if (journal.limits.maxRecords === 0 || (steps.length === 0 && !isExact)) return;
  const recorded = record.note(steps.map(toChange));
  try {
    if (isSynced) await journal.log.sync();
  } catch (error) {
    recorded.cancel();
    throw error;
  }
}

function toChange({ path, kind, from, before, after }: Step): JournalChange {
  return { path, kind, ...(from !== undefined && { from }), before, after: withoutTree(after) };
}

/** Drops `tree`: a restored directory is no longer in the store. An empty one is recorded like a created one. */
function withoutTree(after: State): State {
  if (after.kind !== 'directory') return after;
  const { tree: _, contents, ...rest } = after;
  return { ...rest, ...(contents !== undefined && !isEmptySum(contents) && { contents }) };
}

async function syncDirectories(steps: readonly Step[], jail: Jail): Promise<void> {
  const synced = new Set<string>();
  for (const { at, fromAt } of steps) {
    for (const path of [at, fromAt]) {
      const folder = path === undefined ? undefined : path.slice(0, Math.max(0, path.lastIndexOf('/')));
      if (folder === undefined || synced.has(folder)) continue;
      synced.add(folder);
      await syncDirectoryOf(path!, jail);
    }
  }
}

async function syncDirectoryOf(path: string, jail: Jail): Promise<void> {
  try {
    using entry = jail.entry(path);
    await entry.syncDirectory();
  } catch (error) {
    // A later step removed the directory, or put a file there.
    const isGone = error instanceof HostError && (error.reason === 'not-a-parent' || error.reason === 'missing');
    if (!isGone) throw error;
  }
}

/** Removes images over max_image_bytes from the record: they were kept only for a roll back. Returns their names. */
function forgetLarge(steps: readonly Step[], { limits }: Journal): string[] {
  return steps.flatMap((step) => {
    const { before } = step;
    if (before.kind !== 'file' || before.image === undefined || before.size <= limits.maxImageBytes) return [];
    const { image, ...rest } = before;
    step.before = rest;
    return [image];
  });
}

/** Removes the images of a set without a record: they were kept only for a roll back. */
function forget(steps: readonly Step[], { journal, record }: SetScope): void {
  for (const { before } of steps) dropImage(before, journal);
  journal.store.drop(`${record.seq}.0`);
}

function dropImage(before: State, { store }: Journal): void {
  if (before.kind === 'file' && before.image !== undefined) store.drop(before.image);
}

function reported({ at, kind, fromAt, before, after, note }: Step): SetChange {
  const version = after.kind === 'file' ? after.version : undefined;
  const notes = [note, kind !== 'mode' && isLost(before) ? NOT_RESTORED : undefined].filter((one) => one !== undefined);
  return {
    path: at,
    kind: kindOf(kind, before, after),
    ...(fromAt !== undefined && { from: fromAt }),
    ...(version !== undefined && { version }),
    ...(notes.length > 0 && { note: notes.join('; ') }),
  };
}

function kindOf(kind: Step['kind'], before: State, after: State): SetChange['kind'] {
  if (kind === 'mode') return 'mode';
  if (kind === 'move') return 'moved';
  if (after.kind === 'absent') return 'deleted';
  return before.kind === 'absent' ? 'created' : 'modified';
}

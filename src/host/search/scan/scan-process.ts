/**
 * The program of a process that walks and searches parts of the tree.
 *
 * A process and not a thread: only a main thread can have the calls that open files in a held directory, and where
 * there are none a process can be in that directory itself, a place that threads share. Every regex runs in one of
 * these: there is always a pattern that is slow on some line, and a process can be ended from outside. It ends by itself
 * when the main process does.
 */
import { compileRegex, RegexError } from '../../regex/index.ts';
import { systemCalls } from '../../system/system-calls.ts';
import { enteredDirsBelow, leaveEnteredDir } from '../../walk/walk-dir-by-chdir.ts';
import { calledDirsBelow } from '../../walk/walk-dir-by-syscalls.ts';
import type { OpenWalkDir } from '../../walk/walk-dir.ts';
import { exercise } from './exercise.ts';
import { FileSearch } from './file-search.ts';
import { FindingsWriter } from '../findings.ts';
import { compilePathFilter } from '../match/path-filter.ts';
import type { FromScan, ScanTask, SearchOrder, ToScan } from './scan-messages.ts';
import { TreeScan, type Scope } from './tree-scan.ts';
import { walkFilterOf } from './walk-filter.ts';

interface Search {
  order: SearchOrder;
  files: FileSearch;
  scope: Scope;
}

const searches = new Map<number, Search>();
/** Before each task the messages are read that came meanwhile: the search may be over. */
const tasks: ScanTask[] = [];
let openDir: OpenWalkDir;

/** The id of none. */
const NO_SEARCH = 0;

process.title = 'workcell-search';
process.on('disconnect', () => process.exit());
// Typed at a terminal it is meant for the main process, which ends this one when it is done.
process.on('SIGINT', () => {});
process.on('message', (message: ToScan) => {
  if (message.kind === 'open') open(message);
  else if (message.kind === 'end') end(message.searchId);
  else if (message.kind === 'begin') guarded(message.order.id, () => begin(message.order));
  else if (tasks.push(message) === 1) setImmediate(workOn);
});

function open({ workspace, isAhead }: Extract<ToScan, { kind: 'open' }>): void {
  openDir = calledDirsBelow(workspace, enteredDirsBelow(workspace.root, workspace.mode));
  // Loaded before anybody waits for it.
  if (workspace.opening === 'at-once') systemCalls();
  tell({ kind: 'ready' });
  if (isAhead) setImmediate(() => guarded(NO_SEARCH, () => exercise(workspace, () => searches.size === 0)));
}

function begin(order: SearchOrder): void {
  const { query, start, globs } = order;
  const regex = query.isRegex ? compileRegex(query.pattern, { ignoreCase: query.ignoreCase }) : undefined;
  const scope = { start, accepts: compilePathFilter(globs), filter: walkFilterOf(order, openDir), mayBlock: true };
  searches.set(order.id, { order, files: new FileSearch(query, regex), scope });
}

function workOn(): void {
  const task = tasks[0]!;
  const search = searches.get(task.searchId);
  if (search) guarded(task.searchId, () => work(task, search));
  tasks.shift();
  if (tasks.length > 0) setImmediate(workOn);
}

function work({ searchId, taskId, parts, maxWork }: ScanTask, { files, scope, order }: Search): void {
  const writer = new FindingsWriter(order.query);
  const scan = new TreeScan(files, openDir, parts, scope);
  try {
    const end = scan.run(writer, (done) => done >= maxWork);
    tell({ kind: 'result', searchId, taskId, findings: writer.take(), rest: end === 'over' ? scan.leave() : [] });
  } finally {
    scan.leave();
    leaveEnteredDir();
  }
}

function end(searchId: number): void {
  searches.delete(searchId);
  tell({ kind: 'ended', searchId });
}

function guarded(searchId: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof RegexError) {
      tell({ kind: 'bad-regex', searchId, pattern: error.pattern, reason: error.reason });
    } else {
      tell({ kind: 'broken', searchId, stack: error instanceof Error ? error.stack! : String(error) });
    }
  }
}

function tell(message: FromScan): void {
  // Nobody is left to be told of a failure: the end of the main process.
  process.send!(message, undefined, undefined, () => {});
}

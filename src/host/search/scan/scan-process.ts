/**
 * Program of a process that walks and searches parts of the tree.
 *
 * A process, not a thread: only a main thread can load the system calls that open files relative to a directory
 * descriptor, and without them a process can chdir there, while threads share their directory. Every regex runs in one
 * of these: any pattern can be slow on some line, and a process can be killed. It ends by itself when the main process
 * does.
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
/** Queued, so that messages are read between tasks: the search may have ended. */
const tasks: ScanTask[] = [];
let openDir: OpenWalkDir;

/** Not the id of any search. */
const NO_SEARCH = 0;

process.title = 'workcell-search';
process.on('disconnect', () => process.exit());
// Ignores Ctrl-C of a terminal: the main process gets it too, and ends this one when it is done.
process.on('SIGINT', () => {});
process.on('message', (message: ToScan) => {
  if (message.kind === 'open') open(message);
  else if (message.kind === 'end') end(message.searchId);
  else if (message.kind === 'begin') guarded(message.order.id, () => begin(message.order));
  else if (tasks.push(message) === 1) setImmediate(workOn);
});

function open({ workspace, isAhead }: Extract<ToScan, { kind: 'open' }>): void {
  openDir = calledDirsBelow(workspace, enteredDirsBelow(workspace.root, workspace.mode, workspace.view));
  // Loaded before the first search.
  if (workspace.opening === 'at-once') systemCalls();
  send({ kind: 'ready' });
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
    send({ kind: 'result', searchId, taskId, findings: writer.take(), rest: end === 'over' ? scan.leave() : [] });
  } finally {
    scan.leave();
    leaveEnteredDir();
  }
}

function end(searchId: number): void {
  searches.delete(searchId);
  send({ kind: 'ended', searchId });
}

function guarded(searchId: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof RegexError) {
      send({ kind: 'bad-regex', searchId, pattern: error.pattern, reason: error.reason });
    } else {
      send({ kind: 'broken', searchId, stack: error instanceof Error ? error.stack! : String(error) });
    }
  }
}

function send(message: FromScan): void {
  // Ignores errors: the main process may have ended.
  process.send!(message, undefined, undefined, () => {});
}

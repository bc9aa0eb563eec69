/**
 * A thread that walks and searches parts of the tree.
 *
 * Every regex runs in one of these: there is always a pattern that is slow on some line, and a thread can be
 * stopped from outside. Directories are opened again by their path and must be found exactly there.
 */
import { parentPort, workerData } from 'node:worker_threads';

import { compileRegex, RegexError } from '../regex/index.ts';
import { walkDirsBelow } from '../walk-dir.ts';
import { FileSearch } from './file-search.ts';
import { FindingsWriter } from './findings.ts';
import { compilePathFilter } from './path-filter.ts';
import type { FromThread, SearchOrder, ToThread, Workspace } from './thread-messages.ts';
import { TreeScan, type Scope } from './tree-scan.ts';
import { walkFilterOf } from './walk-filter.ts';

interface Search {
  order: SearchOrder;
  files: FileSearch;
  scope: Scope;
}

const port = parentPort!;
const { root, mode } = workerData as Workspace;
const openDir = walkDirsBelow(root, mode);
const searches = new Map<number, Search>();

port.on('message', (message: ToThread) => {
  const searchId = message.kind === 'begin' ? message.order.id : message.searchId;
  try {
    if (message.kind === 'begin') begin(message.order);
    else if (message.kind === 'task') work(message);
    else end(searchId);
  } catch (error) {
    if (error instanceof RegexError) {
      tell({ kind: 'bad-regex', searchId, pattern: error.pattern, reason: error.reason });
    } else {
      tell({ kind: 'broken', searchId, stack: error instanceof Error ? error.stack! : String(error) });
    }
  }
});

tell({ kind: 'ready' });

function begin(order: SearchOrder): void {
  const { query, start, globs } = order;
  const regex = query.isRegex ? compileRegex(query.pattern, { ignoreCase: query.ignoreCase }) : undefined;
  const scope = { start, accepts: compilePathFilter(globs), filter: walkFilterOf(order, openDir), mayBlock: true };
  searches.set(order.id, { order, files: new FileSearch(query, regex), scope });
}

function work({ searchId, taskId, parts, maxWork }: Extract<ToThread, { kind: 'task' }>): void {
  const search = searches.get(searchId);
  if (!search) return;

  const { files, scope, order } = search;
  const isStopped = () => Atomics.load(order.stop, 0) !== 0;
  const writer = new FindingsWriter(order.query);
  const scan = new TreeScan(files, openDir, parts, scope);
  try {
    const end = scan.run(writer, (done) => done >= maxWork || isStopped());
    if (isStopped()) return;
    tell({ kind: 'result', searchId, taskId, findings: writer.take(), rest: end === 'over' ? scan.leave() : [] });
  } finally {
    scan.leave();
  }
}

function end(searchId: number): void {
  searches.delete(searchId);
  tell({ kind: 'ended', searchId });
}

function tell(message: FromThread): void {
  port.postMessage(message);
}

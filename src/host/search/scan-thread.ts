/**
 * A thread that searches batches of files.
 *
 * Every regex runs in one of these: there is always a pattern that is slow on some line, and a thread can be
 * stopped from outside. Directories are opened again by their path and must be found exactly there.
 */
import { parentPort, workerData } from 'node:worker_threads';

import { compileRegex, RegexError } from '../regex/index.ts';
import { walkDirsBelow } from '../walk-dir.ts';
import { unpackRuns } from './batch.ts';
import { Collector, FileSearch } from './file-search.ts';
import type { Query } from './query.ts';
import type { FromThread, ToThread, Workspace } from './thread-messages.ts';

interface Search {
  query: Query;
  stop: Int32Array;
  files: FileSearch;
}

const port = parentPort!;
const { root, mode } = workerData as Workspace;
const openDir = walkDirsBelow(root, mode);
const searches = new Map<number, Search>();

port.on('message', (message: ToThread) => {
  const { searchId } = message;
  try {
    if (message.kind === 'begin') begin(message);
    else if (message.kind === 'batch') searchBatch(message);
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

function begin({ searchId, query, stop }: Extract<ToThread, { kind: 'begin' }>): void {
  const regex = query.isRegex ? compileRegex(query.pattern, { ignoreCase: query.ignoreCase }) : undefined;
  searches.set(searchId, { query, stop, files: new FileSearch(query, regex) });
}

function searchBatch({ searchId, batchId, packedRuns }: Extract<ToThread, { kind: 'batch' }>): void {
  const search = searches.get(searchId);
  if (!search) return;

  const collector = new Collector(search.query.maxMatches);
  unpackRuns(packedRuns).every((run) => search.files.searchRun(openDir, run, collector, () => isStopped(search)));
  if (!isStopped(search)) tell({ kind: 'result', searchId, batchId, result: collector.take() });
}

function end(searchId: number): void {
  searches.delete(searchId);
  tell({ kind: 'ended', searchId });
}

function isStopped({ stop }: Search): boolean {
  return Atomics.load(stop, 0) !== 0;
}

function tell(message: FromThread): void {
  port.postMessage(message);
}

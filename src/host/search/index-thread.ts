/**
 * The thread that owns the index: the texts, the watches and the searches in them.
 *
 * It is alone with its data, so nothing is locked and the main thread never waits for more than a message. One
 * search runs at a time; who comes meanwhile reads the files instead.
 */
import { lstatSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import type { ByteString } from '../byte-string.ts';
import { compileRegex, RegexError } from '../regex/index.ts';
import { toPath, walkDirsBelow } from '../walk-dir.ts';
import { Arena } from './index-arena.ts';
import { IndexGivesUp, IndexLoader } from './index-loader.ts';
import type { FromIndex, IndexOptions, ToIndex } from './index-messages.ts';
import { signatureFilter } from './index-needles.ts';
import { IndexSearch } from './index-search.ts';
import type { IndexedDir } from './index-tree.ts';
import { Watch } from './index-watch.ts';
import { createMatcher } from './matcher.ts';
import { compilePathFilter, type PathGlobs } from './path-filter.ts';
import type { SearchAnswer } from './query.ts';

const { workspace, budgetBytes, maxFileBytes } = workerData as IndexOptions;
const { root, mode } = workspace;
const port = parentPort!;
const openDir = walkDirsBelow(root, mode);
const arena = new Arena(budgetBytes);
const watch = new Watch();
const loader = new IndexLoader(openDir, watch, arena, maxFileBytes);
const rootInode = inodeOfRoot();

await guarded(async () => {
  await loader.loadAll();
  tell({ kind: 'ready' });
});
port.on('message', (request: ToIndex) => void guarded(() => serve(request)));

async function serve(request: ToIndex): Promise<void> {
  const { id } = request;
  try {
    tell({ kind: 'answer', id, answer: await search(request) });
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    tell({ kind: 'bad-regex', id, pattern: error.pattern, reason: error.reason });
  }
}

async function search({ query, path, globs, stop }: ToIndex): Promise<SearchAnswer | undefined> {
  const changes = await watch.take();
  if (!changes || inodeOfRoot() !== rootInode) throw new IndexGivesUp('changes may have been missed');
  loader.apply(changes);

  const start = find(path);
  if (!start || query.maxFileBytes !== maxFileBytes) return undefined;
  const regex = query.isRegex ? compileRegex(query.pattern, { ignoreCase: query.ignoreCase }) : undefined;
  const mayHold = signatureFilter(query, regex, arena);
  if (!mayHold && arena.hasUnkept) return undefined;

  return new IndexSearch(query, {
    root,
    loader,
    arena,
    openDir,
    matcher: createMatcher(query, regex, arena.memory),
    accepts: hasGlobs(globs) ? compilePathFilter(globs) : undefined,
    mayHold: mayHold ?? (() => true),
    isStopped: () => Atomics.load(stop, 0) !== 0,
  }).run(start);
}

function hasGlobs({ protectedGlobs, includeGlobs, excludeGlobs }: PathGlobs): boolean {
  return protectedGlobs.length + includeGlobs.length + excludeGlobs.length > 0;
}

function find(path: ByteString): IndexedDir | undefined {
  let dir: IndexedDir = loader.root;
  for (const name of path === '' ? [] : (path.split('/') as ByteString[])) {
    const entry = dir.entries.get(name);
    if (entry?.kind !== 'dir') return undefined;
    dir = entry;
  }
  return dir;
}

function inodeOfRoot(): number {
  return lstatSync(toPath(root)).ino;
}

async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const reason =
      error instanceof IndexGivesUp ? error.message : error instanceof Error ? error.stack! : String(error);
    tell({ kind: 'given-up', reason });
  }
}

function tell(message: FromIndex): void {
  port.postMessage(message);
}

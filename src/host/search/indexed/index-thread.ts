/**
 * Thread that owns a part of the index: the texts, the watches and the searches in them.
 *
 * No other thread has its data, so there are no locks and the main thread never waits for more than a message. One
 * search runs at a time; another that arrives meanwhile is answered by reading the files.
 */
import { lstatSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import { compileRegex, RegexError } from '../../regex/index.ts';
import { toPath, walkDirsBelow } from '../../walk/walk-dir.ts';
import { FindingsWriter, type Findings } from '../findings.ts';
import { LoadPause } from './load-pause.ts';
import { IndexUnusable } from './index-unusable.ts';
import { IndexLoader } from './index-loader.ts';
import type { FromIndex, IndexData, IndexOrder, ToIndex } from './index-messages.ts';
import { signedNeedles } from './index-needles.ts';
import { findDir } from './index-order.ts';
import { reachesInto } from './index-range.ts';
import { IndexSearch } from './index-search.ts';
import { Watch } from './index-watch.ts';
import { createMatcher } from '../match/matcher.ts';

const options = workerData as IndexData;
const { root, mode } = options.workspace;
const port = parentPort!;
const openDir = walkDirsBelow(root, mode);
const watch = new Watch();
const loader = new IndexLoader(openDir, watch, options);
const rootInode = inodeOfRoot();

/** Longest time a search waits for the signing of texts. */
const SIGN_MS = 2;
let isSearching = false;
let isSigning = false;

await guarded(async () => {
  const pause = new LoadPause(options.readers);
  const startedMs = performance.now();
  await loader.loadAll({
    onFolder: () => pause.wait(),
    onPause: (files) => post({ kind: 'loading', files, ms: performance.now() - startedMs - pause.pausedMs }),
  });
  postLinked();
  post({ kind: 'ready' });
  goOnSigning();
});
port.on('message', (message: ToIndex) => void guarded(async () => take(message)));

function take(message: ToIndex): Promise<void> | void {
  if (message.kind === 'search') return serve(message.order);
  loader.linked.add(message.inodes);
}

async function serve(request: IndexOrder): Promise<void> {
  isSearching = true;
  try {
    const findings = await search(request);
    // Transferred, not copied.
    const buffers = findings ? [findings.numbers.buffer, ...(findings.json ? [findings.json.buffer] : [])] : [];
    port.postMessage({ kind: 'answer', findings } satisfies FromIndex, buffers);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    post({ kind: 'bad-regex', pattern: error.pattern, reason: error.reason });
  } finally {
    isSearching = false;
    goOnSigning();
  }
}

async function search({ query, start, globs, stop }: IndexOrder): Promise<Findings | undefined> {
  const changes = await watch.take();
  if (!changes || inodeOfRoot() !== rootInode) throw new IndexUnusable('changes may have been missed');
  loader.apply(changes);
  postLinked();
  if (!reachesInto(options.range, start)) return new FindingsWriter(query).take();

  const dir = findDir(loader.root, start);
  if (!dir || query.maxFileBytes < options.maxFileBytes) return undefined;
  const regex = query.isRegex ? compileRegex(query.pattern, { ignoreCase: query.ignoreCase }) : undefined;
  const needles = signedNeedles(query, regex);
  if (!needles && loader.arena.hasUnkept) return undefined;

  return new IndexSearch(query, {
    loader,
    readsLarge: query.maxFileBytes > options.maxFileBytes,
    openDir,
    marks: needles && loader.arena.signatures.mark(needles, loader.slots.length),
    matcher: createMatcher(query, regex, loader.arena.memory),
    filter: loader.filters.of(globs),
    // Called before each file that is searched; also records the progress.
    isStopped() {
      Atomics.add(stop, 1, 1);
      return Atomics.load(stop, 0) !== 0;
    },
  }).run(dir);
}

/** Signs kept texts a little at a time, between searches. */
function goOnSigning(): void {
  if (!isSigning) setImmediate(signSome);
  isSigning = true;
}

function signSome(): void {
  const until = performance.now() + SIGN_MS;
  isSigning = !isSearching && !loader.arena.signSome(() => performance.now() > until);
  if (isSigning) setImmediate(signSome);
}

function inodeOfRoot(): number {
  return lstatSync(toPath(root)).ino;
}

async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const reason =
      error instanceof IndexUnusable ? error.message : error instanceof Error ? error.stack! : String(error);
    post({ kind: 'unusable', reason });
  }
}

function postLinked(): void {
  const inodes = loader.linked.takeUnsent();
  if (options.partCount > 1 && inodes.length > 0) post({ kind: 'linked', inodes });
}

function post(message: FromIndex): void {
  port.postMessage(message);
}

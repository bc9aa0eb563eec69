/** Measures the overhead of the journal on edits, and the duration of write sets and undo. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { shippedCell } from '#contract';
import { findUndo, JailChanges, makeUndo, openJail, Workspace } from '#host';
import { formatMs, formatNumber } from '../../units.mjs';
import { bareEdits } from './edit-calls.mjs';
import { openCoder } from './open-coder.mjs';

const WITHOUT = 'without the journal';
const WITH = 'with the journal';
const BARE_WITHOUT = 'system calls alone, without';
const BARE_WITH = 'system calls alone, with';

export async function measureJournal(harness, corpus) {
  await compareEdits(harness, corpus);
  await measureSets(harness, corpus);
}

/**
 * bench-files.B20: workspace and store on one device, so that before-images are hard links. One edit a turn of the event loop, as
 * calls come to a server: an edit without a journal closes the replaced file after its reply.
 */
async function compareEdits(harness, corpus) {
  const off = { journal: { ...shippedCell.journal, max_records: 0 } };
  for (const [size, fsync] of [
    [2000, true],
    [2000, false],
    [100_000, true],
  ]) {
    const cases = {};
    for (const [name, cell] of [
      [WITHOUT, off],
      [WITH, {}],
    ]) {
      const folder = `edits-${size}-${fsync}-${name.split(' ')[0]}`;
      for (let i = 0; i < 20; i++) corpus.text(`${folder}/f${i}`, size);
      const call = await openCoder(corpus.path(folder), { fsync }, { state_dir: corpus.path('state'), ...cell });
      let turn = 0;
      cases[name] = twenty(corpus, (path) => {
        const ops = [{ op: 'update_lines', from_line: 3, to_line: 3, content: `turn ${turn++}` }];
        return call('coder::update-file', { files: [{ path, ops }] });
      });
    }
    for (const [name, isKept] of [
      [BARE_WITHOUT, false],
      [BARE_WITH, true],
    ]) {
      const folder = `bare-${size}-${fsync}-${isKept}`;
      for (let i = 0; i < 20; i++) corpus.text(`${folder}/f${i}`, size);
      const options = { size, isSynced: fsync, isKept };
      cases[name] = twenty(corpus, bareEdits(corpus.path(folder), corpus.path(`${folder}-store`), options));
    }
    const edits = await harness.compare({
      title: `20 edits of one line in files of ${size.toLocaleString('en-US')} bytes, ${fsync ? 'each on the disk' : 'without fsync'}`,
      base: WITHOUT,
      cases,
      rounds: 31,
    });
    const ratio = edits.ratio('time', WITH, WITHOUT);
    const floor = edits.ratio('time', BARE_WITH, BARE_WITHOUT);
    // Of the calls alone, in the time of an edit.
    const added =
      (edits.median('time', BARE_WITH) - edits.median('time', BARE_WITHOUT)) / edits.median('time', WITHOUT);
    harness.bar({
      id: `B20, edit of ${size} bytes${fsync ? ', fsync' : ''}`,
      goal: '≤ 1.05 × of an edit without',
      measured: `${formatNumber(ratio)} × (the system calls alone ${formatNumber(floor)} ×, ${formatNumber(1 + added)} × of an edit)`,
      met: ratio <= 1.05,
    });
  }
}

/** One edit a turn. */
function twenty(corpus, edit) {
  return async () => {
    const result = await timed(async () => {
      for (let i = 0; i < 20; i++) {
        await edit(`f${i}`);
        await nextTurn();
      }
    });
    await replacedFilesFreed();
    // A sync also writes the pending pages of the case before, such as the blocks that it freed.
    execFileSync('sync', ['-f', corpus.path('.')]);
    return result;
  };
}

async function measureSets(harness, corpus) {
  const count = harness.isQuick ? 200 : 1000;
  const removed = harness.isQuick ? 1000 : 10_000;
  for (let i = 0; i < count; i++) corpus.text(`set/ws/${i % 20}/f${i}`, 2000);
  for (let i = 0; i < removed; i++) corpus.write(`folder/${i % 100}/f${i}`, 'x');
  const cases = {};
  const SET = (fsync) => `a set of ${count} writes${fsync ? ', fsync' : ''}`;
  const UNDO = (fsync) => `its undo${fsync ? ', fsync' : ''}`;
  for (const fsync of [false, true]) {
    const { changes, signal, undo } = await openHost(corpus, fsync);
    let turn = 0;
    const write = () =>
      changes.writeSet(
        Array.from({ length: count }, (_, i) => ({
          kind: 'write',
          path: `${i % 20}/f${i}`,
          content: Buffer.from(`${turn} ${i}\n`),
        })),
        { signal, call: { callId: `${turn++}` } },
      );
    cases[SET(fsync)] = async () => void (await write());
    cases[UNDO(fsync)] = async () => {
      await write();
      return await timed(() => undo());
    };
  }
  mkdirSync(corpus.path('rm'));
  const call = await openCoder(corpus.path('rm'), {}, { state_dir: corpus.path('state') });
  const DELETE = `delete of a folder of ${removed} files`;
  const NAMES = 'reading the names in it';
  cases[DELETE] = async () => {
    cpSync(corpus.path('folder'), corpus.path('rm/folder'), { recursive: true });
    // Waits for the work that the last delete left for after its reply.
    await call('coder::checkpoints', { limit: 1 });
    return await timed(() => call('coder::delete-file', { paths: ['folder'], recursive: true }));
  };
  // A delete cannot do without: a protected name anywhere below refuses it.
  cases[NAMES] = () => {
    for (const name of readdirSync(corpus.path('folder'))) readdirSync(corpus.path(`folder/${name}`));
  };
  const sets = await harness.compare({
    title: 'Several files at once',
    base: SET(false),
    cases,
    rounds: 7,
  });
  const bars = [
    [SET(false), 300],
    [SET(true), 1000],
    [UNDO(false), 300],
    [UNDO(true), 1000],
    [DELETE, 5],
  ];
  for (const [name, most] of bars) {
    const ms = sets.median('time', name);
    const names = name === DELETE ? ` (${NAMES} ${formatMs(sets.median('time', NAMES))})` : '';
    harness.bar({ id: name, goal: `≤ ${most} ms`, measured: `${formatMs(ms)}${names}`, met: ms <= most });
  }
}

async function openHost(corpus, fsync) {
  const root = corpus.path('set/ws');
  const needs = { protect: [], maxFileBytes: 1e7, timeoutMs: 1e4, state_dir: corpus.path(`state-${fsync}`) };
  const workspace = new Workspace(root, { ...needs, journal: shippedCell.journal });
  const jail = openJail(root);
  const { journal } = workspace;
  const changes = new JailChanges(jail, { isSynced: fsync, journalOf: () => journal });
  const { signal } = new AbortController();
  const undo = async () => {
    const request = { select: {}, onConflict: 'refuse', anyone: true };
    const context = { jail, journal, changes };
    await makeUndo(await findUndo(request, context, { signal }), context, { signal });
  };
  return { changes, signal, undo };
}

/** Waits until this process has closed the files that it replaced: freeing them must not slow the next case down. */
async function replacedFilesFreed() {
  const isReplaced = (fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith(' (deleted)');
    } catch {
      return false;
    }
  };
  while (process.platform === 'linux' && readdirSync('/proc/self/fd').some(isReplaced)) await nextTurn();
}

async function timed(work) {
  const start = performance.now();
  await work();
  return { time: performance.now() - start };
}

/**
 * How long one call keeps everything else in the process waiting: the longest turn of the event loop while it runs.
 *
 * Every function is called at its limits.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as passed } from 'node:timers/promises';

import { formatMs, time } from '../../units.mjs';
import { openCoder } from './open-coder.mjs';

const LONGEST_MS = 50;
const MIB = 1 << 20;

export async function measureTurns(harness, corpus) {
  const calls = prepareCalls(harness, corpus);
  const config = { max_write_bytes: 11 * MIB, list_max_page_size: 1_000_000, tree_per_folder_limit: 1_000_000 };
  const call = await openCoder(corpus.root, { fsync: false, ...config });
  const cases = Object.fromEntries(
    Object.entries(calls).map(([name, request]) => [name, () => longestTurn(() => call(...request()))]),
  );
  const turns = await harness.compare({
    title: 'The longest that other calls wait for one call',
    note: 'Wall-clock time, so whatever else the machine does counts too.',
    base: Object.keys(cases)[0],
    measures: { time: { label: 'longest turn', unit: time } },
    cases,
    rounds: 5,
  });
  const longest = Math.max(...turns.cases.map((name) => turns.median('time', name)));
  harness.bar({
    id: 'event loop',
    goal: `no turn longer than ${LONGEST_MS} ms`,
    measured: formatMs(longest),
    met: longest <= LONGEST_MS,
  });
}

/** Each with a request that can be made again and again. */
function prepareCalls(harness, corpus) {
  const count = harness.isQuick ? 5000 : 200_000;
  const accented = 'const välue = compute(31, "téxt 97"); // ü\n'.repeat(220_000);
  corpus.write('text', accented);
  corpus.write('newlines', '\n'.repeat(10 * MIB));
  corpus.write('bytes', Buffer.alloc(10 * MIB, 0xff));
  corpus.flat('many', count);

  let turn = 0;
  const line = (from_line) => ({ op: 'update_lines', from_line, to_line: from_line, content: `turn ${++turn}` });
  const edit = (path, ...ops) => ['coder::update-file', { files: [{ path, ops }] }];
  const swap = () => ({ op: 'replace', pattern: '(?i)value|välue', replacement: turn++ % 2 ? 'value' : 'välue' });
  return {
    'read 10 MiB': () => ['coder::read-file', { path: 'text' }],
    'read 10 MiB that are not text': () => ['coder::read-file', { path: 'bytes' }],
    'read 10 MiB numbered': () => ['coder::read-file', { path: 'text', numbered: true }],
    'read 10 Mi empty lines numbered': () => ['coder::read-file', { path: 'newlines', numbered: true }],
    'edit a line of 10 MiB': () => edit('newlines', line(5_000_000)),
    'edit 1,000 lines of 10 MiB': () => edit('text', ...Array.from({ length: 1000 }, (_, i) => line(i * 200 + 1))),
    'replace by regex in 10 MiB': () => edit('text', swap()),
    'create 10 MiB': () => [
      'coder::create-file',
      { files: [{ path: 'new', content: `${++turn}${accented}`, overwrite: true }] },
    ],
    [`list ${count.toLocaleString('en-US')} files on one page`]: () => [
      'coder::list-folder',
      { path: 'many', page_size: count },
    ],
    'a tree of 50,000 entries': () => ['coder::tree', { path: 'many' }],
    'remove 5,000 files': () => {
      corpus.flat(`gone-${++turn}`, 5000);
      return ['coder::delete-file', { paths: [`gone-${turn}`], recursive: true }];
    },
  };
}

async function longestTurn(work) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await passed(5);
  delay.reset();
  await work();
  await passed(5);
  delay.disable();
  return { time: delay.max / 1e6 };
}

/** Every tool with more than a reply holds: it reports the omitted part. */
import { expect, test } from 'vitest';

import { agentCell } from '#testing';

const MOST = 1000;
/** Room for the line that reports the omitted part. */
const SLACK = 200;

test('agent.C29 a reply stays within its size and says what it leaves out', async () => {
  const names = Array.from({ length: 300 }, (_, i) => `dir/file-${i}.txt`);
  const entries = Object.fromEntries(names.map((name) => [name, 'teh\n']));
  await using cell = await agentCell(
    { ...entries, 'short-lines.txt': 'x\n'.repeat(5000), 'one.py': 'def f(): pass\n'.repeat(500) },
    { reply_chars: MOST },
  );
  const whole = names.map((path) => ({ path, content: 'the\n' }));
  const moves = names.map((path) => ({ from: path, to: path.replace('dir', 'other') }));
  const missing = names.map((path) => ({ path, old: 'not there', new: '' }));
  for (const [tool, args, rest] of [
    ['read', { paths: ['short-lines.txt'] }, /… continues at short-lines\.txt:\d+-5000$/],
    ['read', { paths: names }, /not read, the reply is full: dir\/file-\d+\.txt, .* and \d+ more$/],
    ['search', { pattern: 'teh' }, /… there are more/],
    ['outline', { paths: ['one.py'] }, /… \d+ more lines: name fewer files$/],
    ['list', { glob: 'dir/*' }, /… 300 in all; narrow the glob$/],
    ['edit', { edits: missing }, /… and \d+ more$/],
    ['edit', { edits: [{ path: 'dir/*', old: 'teh', new: 'the', all: true }] }, /… and \d+ more files$/],
    ['write', { files: whole.map(({ path }) => ({ path, content: 'two\n' })) }, /… and \d+ more files$/],
    ['move', { moves }, /… and \d+ more$/],
    ['undo', {}, /and 295 more\)$/],
    ['changes', {}, /change 3: move .* and 292 more \(undone\)/],
    ['run', { command: 'seq 5000' }, /lines not shown; output \{"id": "o1"\}/],
    ['output', { id: 'o1', grep: '1' }, /… \d+ lines match; narrow grep, or read from line \d+$/],
    ['output', { id: 'o1' }, /… continues at line \d+ of 5000$/],
    ['more', { function: 'shell::exec' }, /lines not shown; output/],
  ] as const) {
    const text = await cell.text(tool, args);
    expect(`${tool}: ${text}`).toMatch(rest);
    expect(text.length).toBeLessThanOrEqual(MOST + SLACK);
  }
});

test('`until` makes a command of `run` a job', async () => {
  await using cell = await agentCell();
  expect(await cell.text('run', { command: 'echo ready; sleep 300', until: { text: 'ready' } })).toMatch(
    /^j1: running/,
  );
  expect(await cell.text('job', { id: 'j1', stop: true })).toMatch(/^j1: killed/);
});

import { expect, test } from 'vitest';

import { agentCell } from '#testing';

test('agent.C16 a command line of a shell: its output, and its exit code if it is not 0', async () => {
  await using cell = await agentCell({ 'src/a.txt': 'one\n' });
  expect(await cell.text('run', { command: 'cat src/*.txt | tr a-z A-Z > b.txt && cat b.txt' })).toBe('ONE');
  expect(await cell.text('run', { command: 'X=1; echo "$X"; echo err >&2; exit 3' })).toBe('exit 3\n1\nerr');
  expect(await cell.text('run', { command: 'true' })).toBe('(no output)');
  expect(await cell.text('run', { command: 'pwd', cwd: 'src' })).toBe(cell.dir.path('src'));
  expect(await cell.text('run', { command: 'cat', timeout_s: 20 })).toBe('(no output)');
  expect(await cell.text('run', { command: 'true', cwd: '..' })).toMatch(/^(?:A|S)21\d|^invocation_failed/);
});

test('agent.C17 long output is its head, the lines that look like failures, its tail and a handle', async () => {
  await using cell = await agentCell();
  const loop = 'for i in $(seq 1 9000); do echo "ok $i - a test that passes"; done';
  const command = `${loop}; echo "not ok 9001 - the bad one"; ${loop}; echo "# pass 18000"; echo "# fail 0"; exit 1`;
  const text = await cell.text('run', { command });
  expect(text.length).toBeLessThan(4000);
  expect(text).toMatch(/^exit 1\nok 1 - a test that passes\n/);
  expect(text).toContain('lines that look like failures:\n9001: not ok 9001 - the bad one\n…\n');
  expect(text).toMatch(/# pass 18000\n# fail 0$/);
  expect(text).toContain('of 18003 lines not shown; output {"id": "o1"}');
  expect(await cell.text('output', { id: 'o1', grep: 'not ok', context: 1 })).toBe(
    '9000: ok 9000 - a test that passes\n9001: not ok 9001 - the bad one\n9002: ok 1 - a test that passes',
  );
  expect(await cell.text('output', { id: 'o1', tail: 2 })).toBe('18002: # pass 18000\n18003: # fail 0');
  expect(await cell.text('output', { id: 'o1', from: 18_003 })).toBe('18003: # fail 0');
  expect(await cell.text('output', { id: 'o1', grep: 'nothing' })).toBe('no line of 18003 matches');
});

test('agent.C18 after its timeout a command continues as a job, and nothing of it runs after stop', async () => {
  await using cell = await agentCell();
  const started = await cell.text('run', { command: 'echo begun; sleep 1000.73', timeout_s: 1 });
  expect(started).toBe('j1: running (still running after 1 s)\nbegun');
  expect(await cell.text('run', { command: 'pgrep -f "[1]000.73" | wc -l' })).not.toBe('0');
  expect(await cell.text('job', { id: 'j1', stop: true })).toBe('j1: killed (nothing of it runs)');
  expect(await cell.text('run', { command: 'pgrep -f "[1]000.73" | wc -l' })).toBe('0');
});

test('agent.C18 a caller that cancels leaves no command behind', async () => {
  await using cell = await agentCell();
  const controller = new AbortController();
  const calling = cell.bus.call('agent::run', { command: 'touch begun; sleep 1000.74' }, { signal: controller.signal });
  calling.catch(() => {});
  await expect.poll(() => cell.text('run', { command: 'ls' })).toBe('begun');
  controller.abort();
  await expect(calling).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect.poll(() => cell.text('run', { command: 'pgrep -f "[1]000.74" | wc -l' })).toBe('0');
});

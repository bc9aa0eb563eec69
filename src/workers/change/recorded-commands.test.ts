/** shell::exec with `record`: a command is a commit of its own, which undo takes back. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { changeCell } from '#testing';

interface Reply {
  exit_code: number | null;
  timed_out: boolean;
  recorded?: { seq?: number; files: number };
}

const running = (script: string, more: object = {}) => ({
  command: '/bin/sh',
  args: ['-c', script],
  record: true,
  ...more,
});

test('undo.B16 a recorded command that deletes, creates and edits is undone', async () => {
  await using cell = await changeCell({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    'ignored/c': 'c\n',
    '.gitignore': 'ignored\n',
  });
  const script = 'rm a.txt; echo more >> b.txt; mkdir new; echo x > new/x; rm -r ignored; exit 3';
  const { exit_code, recorded } = await cell.call<Reply>('shell::exec', running(script));
  expect(exit_code).toBe(3);
  expect(recorded).toEqual({ seq: expect.any(Number), files: 4 });
  expect(readdirSync(cell.workspace).sort()).toEqual(['.gitignore', 'b.txt', 'new']);

  const { records } = await cell.call<{ records: { seq: number; function_id: string }[] }>('coder::checkpoints');
  expect(records[0]).toMatchObject({ seq: recorded!.seq, function_id: 'shell::exec' });
  await cell.call('coder::undo', { seq: recorded!.seq });
  expect(readdirSync(cell.workspace).sort()).toEqual(['.gitignore', 'a.txt', 'b.txt', 'ignored']);
  expect(readFileSync(cell.at('b.txt'), 'utf8')).toBe('b\n');
  expect(readFileSync(cell.at('ignored/c'), 'utf8')).toBe('c\n');
  expect((await cell.call<{ changes: unknown[] }>('change::list')).changes).toEqual([]);
});

test('undo.B17 a recorded command that is killed by its timeout leaves nothing', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n' });
  const reply = await cell.call<Reply>(
    'shell::exec',
    running('echo started > started; rm a.txt; exec sleep 600', { timeout_ms: 700 }),
  );
  expect(reply.timed_out).toBe(true);
  expect(reply.recorded).toBeUndefined();
  expect(readdirSync(cell.workspace)).toEqual(['a.txt']);
  expect((await cell.call<{ changes: unknown[] }>('change::list')).changes).toEqual([]);
});

test('a recorded git commit moves the branch', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n' });
  const git = 'git -c user.email=a@example.com -c user.name=a';
  await cell.call('shell::exec', { command: '/bin/sh', args: ['-c', `git init -q -b main . && ${git} add .`] });
  expect(existsSync(cell.at('.git/refs/heads/main'))).toBe(false);
  const { recorded } = await cell.call<Reply>('shell::exec', running(`${git} commit -qm first`));
  expect(existsSync(cell.at('.git/refs/heads/main'))).toBe(true);
  await cell.call('coder::undo', { seq: recorded!.seq });
  expect(existsSync(cell.at('.git/refs/heads/main'))).toBe(false);
});

test('undo.B16 a recorded job is undone too; others see its files when it has ended', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const script = 'rm a.txt; echo more >> b.txt; echo new > c.txt; read line; exit 3';
  const { job_id } = await cell.call<{ job_id: string }>('shell::exec_bg', running(script, { input: true }));
  const { changes } = await cell.call<{ changes: { note: string }[] }>('change::list');
  expect(changes).toMatchObject([{ note: 'a recorded job' }]);
  expect(readdirSync(cell.workspace).sort()).toEqual(['a.txt', 'b.txt']);
  await cell.call('shell::input', { job_id, text: 'go\n' });
  await cell.call('shell::output', { job_id, wait_ms: 60_000, until: { exit: true } });
  expect(readdirSync(cell.workspace).sort()).toEqual(['b.txt', 'c.txt']);
  const { records } = await cell.call<{ records: { seq: number; function_id: string }[] }>('coder::checkpoints');
  expect(records[0]).toMatchObject({ function_id: 'shell::exec_bg' });
  await cell.call('coder::undo', { seq: records[0]!.seq });
  expect(readdirSync(cell.workspace).sort()).toEqual(['a.txt', 'b.txt']);
  expect(readFileSync(cell.at('b.txt'), 'utf8')).toBe('b\n');
});

test('a recorded job says in its output why its files were not taken', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n' });
  const script = 'echo job > a.txt; read line; echo done';
  const { job_id } = await cell.call<{ job_id: string }>('shell::exec_bg', running(script, { input: true }));
  writeFileSync(cell.at('a.txt'), 'by another program\n');
  await cell.call('shell::input', { job_id, text: 'go\n' });
  await cell.call('shell::output', { job_id, wait_ms: 60_000, until: { exit: true } });
  const { job } = await cell.call<{ job: { stdout: string; stderr: string } }>('shell::status', { job_id });
  expect(job.stdout).toBe('done\n');
  const { changes } = await cell.call<{ changes: { change: string }[] }>('change::list');
  expect(job.stderr).toMatch(/^workcell: a\.txt changed in the workspace while the command ran/);
  expect(job.stderr).toContain(`in the open change ${changes[0]!.change}`);
  expect(readFileSync(cell.at('a.txt'), 'utf8')).toBe('by another program\n');
});

test('undo.B17 a recorded job that is killed leaves nothing', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n' });
  const { job_id } = await cell.call<{ job_id: string }>(
    'shell::exec_bg',
    running('rm a.txt; echo removed; exec sleep 600'),
  );
  await expect
    .poll(async () => (await cell.call<{ job: { stdout: string } }>('shell::status', { job_id })).job.stdout)
    .toBe('removed\n');
  await cell.call('shell::kill', { job_id });
  await expect.poll(async () => (await cell.call<{ changes: unknown[] }>('change::list')).changes).toEqual([]);
  expect(readdirSync(cell.workspace)).toEqual(['a.txt']);
});

test('undo.B16 with record_commands: foreground each command is recorded, but those that a call leaves out and jobs', async () => {
  await using cell = await changeCell({ 'a.txt': 'a\n' }, { shell: { record_commands: 'foreground' } });
  const command = (script: string, more: object = {}) => ({ command: '/bin/sh', args: ['-c', script], ...more });
  const { recorded } = await cell.call<Reply>('shell::exec', command('rm a.txt; echo new > b.txt'));
  expect(recorded).toEqual({ seq: expect.any(Number), files: 2 });
  expect(
    (await cell.call<Reply>('shell::exec', command('echo c > c.txt', { record: false }))).recorded,
  ).toBeUndefined();
  const { job_id } = await cell.call<{ job_id: string }>('shell::exec_bg', command('echo d > d.txt'));
  await cell.call('shell::output', { job_id, wait_ms: 60_000, until: { exit: true } });
  const change = await cell.begin();
  await cell.sh(change, 'echo e > e.txt');
  const refused = await cell.failure('shell::exec', command('true', { background_after_ms: 60_000 }));
  expect(refused).toMatchObject({ code: 'S210', message: expect.stringContaining('send record: false') });

  const { records } = await cell.call<{ records: { seq: number }[] }>('coder::checkpoints');
  expect(records.map(({ seq }) => seq)).toEqual([recorded!.seq]);
  await cell.call('coder::undo', { seq: recorded!.seq });
  expect(readdirSync(cell.workspace).sort()).toEqual(['a.txt', 'c.txt', 'd.txt']);
});

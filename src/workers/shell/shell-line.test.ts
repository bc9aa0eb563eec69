/** Shell lines that people and models type where no shell runs, and the advice that they get. */
import { expect, test } from 'vitest';

import { run, tempDir } from '#testing';
import { exec } from './functions/exec.ts';
import { shellLineObjection, type ShellOptions } from './shell-line.ts';

const objectionTo = (
  command: string,
  {
    args = null,
    hasShell = false,
    maySet = (name) => name === 'FOO',
  }: { args?: string[] | null } & Partial<ShellOptions> = {},
) => shellLineObjection({ command, args }, { hasShell, maySet });

test.each([
  ['echo hi > x.txt', '>', 'coder::create-file'],
  ['echo hi >> x.txt', '>', 'coder::create-file'],
  ['ls | wc -l', '|', 'run the first command alone'],
  ['cd src && ls', 'cd', '{"command":"ls","cwd":"src"}'],
  ['cd src; ls -la', 'cd', '{"command":"ls -la","cwd":"src"}'],
  ['cd src && ls | wc', 'cd', '`cwd`'],
  ['ls *.md', '*.md', 'coder::list-folder'],
  ['FOO=1 printenv FOO', 'FOO=1', '{"command":"printenv FOO","env":{"FOO":"1"}}'],
  ['source .venv/bin/activate', 'source', '`env`'],
  ['echo $HOME', '$HOME', 'write the value'],
  ['echo `date`', '`', 'write the value'],
  ['ls ~/x', '~', 'write the value'],
  ['sleep 100 &', '&', 'shell::exec_bg'],
  ['wc -l < a.txt', '<', '`stdin`'],
  ['ls && date', '&&', 'one call for each'],
])('%s', (line, sign, next) => {
  const objection = objectionTo(line);
  expect(objection).toContain(`\`${sign}\` has no effect`);
  expect(objection).toContain(next);
  expect(objection).toContain('sandbox::exec');
});

test.each([
  'ls -la',
  "grep 'a|b' f",
  'grep "x > y" f',
  String.raw`echo a\>b`,
  'jq .[0].name f.json',
  'echo # a > b',
  'echo a=b',
  'date +%s',
  'cdrecord -v',
])('%s is not a shell line', (line) => {
  expect(objectionTo(line)).toBeUndefined();
});

test('arguments that only a shell reads are reported too, unless the program compares by them', () => {
  expect(objectionTo('echo', { args: ['hi', '>', 'x.txt'] })).toContain('`>` has no effect');
  expect(objectionTo('test', { args: ['a', '>', 'b'] })).toBeUndefined();
  expect(objectionTo('sort', { args: ['-t', '|'] })).toBeUndefined();
  expect(objectionTo('sh', { args: ['-c', 'a > b'] })).toBeUndefined();
});

test('where a shell is allowed, the call that works is given whole', () => {
  expect(objectionTo('echo hi > x', { hasShell: true })).toBe(
    'no shell runs this command, so `>` has no effect: call with {"command":"sh","args":["-c","echo hi > x"]}',
  );
});

test('fields that would be refused are left out: variables beyond allowed_env, and both in a sandbox', () => {
  const inShell = (line: string) => `call with ${JSON.stringify({ command: 'sh', args: ['-c', line] })}`;
  expect(objectionTo('BAR=1 env', { hasShell: true })).toContain(inShell('BAR=1 env'));
  expect(objectionTo('BAR=1 env')).toContain('allowed_env');
  for (const line of ['cd src && ls', 'FOO=1 env']) {
    const objection = shellLineObjection({ command: line, args: null }, { hasShell: true });
    expect(objection).toContain(inShell(line));
  }
});

test('a door refuses the line before anything runs, and the bus runs its words as the contract says', async () => {
  await using dir = await tempDir();
  const config = { fs: { host_root: dir.root } };
  const payload = { command: 'echo hi > x.txt' };
  for (const door of ['model', 'http', 'cli'] as const)
    await expect(run(exec, payload, config, { door })).rejects.toThrow('no shell runs this command');
  expect(await run(exec, payload, config)).toMatchObject({ exit_code: 0, stdout: 'hi > x.txt\n' });
});

test('a refusal by the allowlist names what may run', async () => {
  await using dir = await tempDir();
  const config = { allowlist: ['ls', 'cat'], fs: { host_root: dir.root } };
  await expect(run(exec, { command: 'git status' }, config, { door: 'model' })).rejects.toThrow(
    "command 'git' not in allowlist; allowed are ls, cat, and the operator can add to shell.allowlist",
  );
});

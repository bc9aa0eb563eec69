import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

import { describe, expect, test } from 'vitest';

import { run, serveWorker, shellCases, tempDir, withEnoughTime } from '#testing';
import { shell } from '../index.ts';
import { exec } from './exec.ts';

const SANDBOX = '0b0e7a4e-4b0c-4c3f-9d52-1f1f6d1d2a11';

/** One call in a jail of its own. */
async function call(payload: unknown, more: Record<string, unknown> = {}) {
  await using dir = await tempDir();
  return await run(exec, payload, shellCases(dir.root, more));
}

/** Whole reply of a command that ended by itself. */
const ended = (fields: Record<string, unknown>) => ({
  exit_code: 0,
  stdout: '',
  stderr: '',
  duration_ms: expect.any(Number),
  timed_out: false,
  stdout_truncated: false,
  stderr_truncated: false,
  ...fields,
});

/** A failure that is text without a code. */
const refused = (message: unknown) => ({ code: 'invocation_failed', message });

describe('words', () => {
  test.each([
    ['shell.X01 arguments as given', { command: 'echo', args: ['hello'] }, 'hello\n'],
    ['shell.X04 an empty list of arguments', { command: 'echo', args: [] }, '\n'],
    ['shell.X16 nothing is expanded', { command: 'echo $HOME *' }, '$HOME *\n'],
    [
      'shell.X16 nor is an argument',
      { command: 'echo', args: ['$HOME', '* ', '`id`', '; ls'] },
      '$HOME *  `id` ; ls\n',
    ],
    ['null arguments split the command', { command: `echo 'a  b' "c d" e\\ f`, args: null }, 'a  b c d e f\n'],
  ])('%s', async (_, payload, stdout) => {
    expect(await call(payload)).toEqual(ended({ stdout }));
  });

  test.each([
    [
      'shell.X03 a line with a list of arguments is one program',
      { command: 'echo hi', args: [] },
      "command 'echo hi' not in allowlist",
    ],
    ['shell.X06 nothing', { command: '' }, 'empty command; name a program in `command`'],
    ['shell.X06 only a comment', { command: '# only comment' }, 'empty command; name a program in `command`'],
    ['nothing with arguments', { command: '', args: ['x'] }, 'empty command; name a program in `command`'],
    ['an open quote', { command: `echo "a` }, 'argv: parse command: missing closing quote'],
    [
      'shell.X07 the words as a list',
      { command: ['echo', 'x'] },
      `'command' must be a string (got an array): put the program in 'command' and its arguments, as strings, in 'args'`,
    ],
    ['a command that is a number', { command: 7 }, `'command' must be a string (got number)`],
    ['a command that is null', { command: null }, `'command' must be a string (got null)`],
    ['arguments in one text', { command: 'echo', args: 'x' }, `'args' must be an array of strings (got string)`],
    ['an argument that is a number', { command: 'echo', args: ['x', 1] }, `'args[1]' must be a string (got number)`],
    ['shell.X09 no command', { args: ['x'] }, 'missing field `command`'],
    ['no object', 'echo', 'the payload must be an object (got a string)'],
    ['an argument with a NUL', { command: 'echo', args: ['a', 'b\0c'] }, 'argv: word 2 holds a NUL character'],
    ['a line with a NUL', { command: 'echo\0 a' }, 'argv: word 0 holds a NUL character'],
    [
      'more than a system takes',
      { command: 'echo', args: ['x'.repeat(2 ** 17)] },
      'argv: 131078 bytes; the limit is 131072',
    ],
    [
      'more words than are judged',
      { command: 'echo', args: Array.from({ length: 16_384 }, () => 'x') },
      'argv: 16385 words; the limit is 16384',
    ],
    [
      'a line longer than that',
      { command: `echo ${'x'.repeat(2 ** 17)}` },
      'argv: 131077 characters; the limit is 131072 bytes',
    ],
  ])('%s is refused in words', async (_, payload, message) => {
    await expect(call(payload)).rejects.toMatchObject(refused(message));
  });
});

describe('policy', () => {
  test('shell.X10 a program that is not listed does not run', async () => {
    await expect(call({ command: 'nmap' })).rejects.toMatchObject(refused("command 'nmap' not in allowlist"));
  });

  test('shell.X12 a program of the agent does not pass for a listed one', async () => {
    await using dir = await tempDir({ ls: { content: '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n', mode: 0o755 } });
    await expect(run(exec, { command: dir.path('ls'), args: [] }, shellCases(dir.root))).rejects.toMatchObject(
      refused(expect.stringMatching(/^command 'ls' not in allowlist/)),
    );
    expect(existsSync(dir.path('ran'))).toBe(false);
  });

  test('a path runs as the entry that was judged, whatever it is spelled like', async () => {
    const found = execFileSync('sh', ['-c', 'command -v sh'], { encoding: 'utf8' }).trim();
    const payload = { command: `${dirname(found)}/./sh`, args: ['-c', 'echo $0'] };
    expect(await call(payload)).toEqual(ended({ stdout: `${realpathSync(dirname(found))}/sh\n` }));
  });

  test('shell.X13 the denylist names its pattern', async () => {
    await expect(call({ command: 'echo', args: ['deny_marker'] })).rejects.toMatchObject(
      refused('command matches denylist: deny_marker'),
    );
  });

  test('shell.X15 an empty allowlist is open', async () => {
    expect(await call({ command: 'basename', args: ['/a/b'] }, { allowlist: [] })).toEqual(ended({ stdout: 'b\n' }));
  });

  test('a rule refuses with its reason', async () => {
    const rules = [{ program: 'sh', args: ['-c', '...'], decision: 'deny', reason: 'scripts only from files' }];
    await expect(call({ command: 'sh', args: ['-c', 'ls'] }, { rules })).rejects.toMatchObject(
      refused("command 'sh' refused by rule: scripts only from files"),
    );
  });
});

describe('end', () => {
  test('a code other than 0 is an answer', async () => {
    expect(await call({ command: 'sh', args: ['-c', 'echo out; echo err >&2; exit 3'] })).toEqual(
      ended({ exit_code: 3, stdout: 'out\n', stderr: 'err\n' }),
    );
  });

  test('shell.X18 a signal leaves no code', async () => {
    expect(await call({ command: 'sh', args: ['-c', 'kill -9 $$'] })).toEqual(ended({ exit_code: null }));
  });

  test('shell.X19 a timeout kills and keeps what was printed', async () => {
    const late = (timeout_ms: number) => call({ command: 'sh', args: ['-c', 'echo early; sleep 600'], timeout_ms });
    const reply = await withEnoughTime([300, 3000, 20_000], late, ({ stdout }) => stdout !== '');
    expect(reply).toEqual(ended({ exit_code: null, timed_out: true, stdout: 'early\n' }));
  });

  test('a timeout of 0 ends at once', async () => {
    expect(await call({ command: 'sleep', args: ['600'], timeout_ms: 0 })).toMatchObject({
      timed_out: true,
      exit_code: null,
    });
  });

  test.each([-1, 1.5, '9', null, {}])('shell.X21 a timeout of %j is the default one', async (timeout_ms) => {
    const reply = await call({ command: 'sleep', args: ['600'], timeout_ms }, { default_timeout_ms: 100 });
    expect(reply).toMatchObject({ timed_out: true });
  });

  test.each([
    ['a request', { timeout_ms: 999_999 }, {}],
    ['an enormous request', { timeout_ms: 2 ** 60 }, {}],
    ['a default', {}, { default_timeout_ms: 20_000 }],
  ])('shell.X22 %s above the maximum is cut to it', async (_, request, more) => {
    const reply = await call({ command: 'sleep', args: ['600'], ...request }, { max_timeout_ms: 100, ...more });
    expect(reply).toMatchObject({ timed_out: true });
  });

  test('shell.X24 a process left behind holds nothing up', async () => {
    const reply = await call({ command: 'sh', args: ['-c', 'sleep 600 & echo done'], timeout_ms: 30_000 });
    expect(reply).toEqual(ended({ stdout: 'done\n' }));
  });

  test('shell.P9 a command whose caller cancels is killed', async () => {
    await using dir = await tempDir();
    await using worker = await serveWorker(shell, shellCases(dir.root));
    const giveUp = new AbortController();
    const payload = { command: 'sh', args: ['-c', 'echo $$ > draft; mv draft pid; sleep 60'], timeout_ms: 30_000 };
    const reply = worker.call('shell::exec', payload, { signal: giveUp.signal });
    await expect.poll(() => existsSync(dir.path('pid'))).toBe(true);

    giveUp.abort();
    await expect(reply).rejects.toMatchObject({ code: 'CANCELLED' });
    const pid = readFileSync(dir.path('pid'), 'utf8').trim();
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  });
});

test('over the cap of commands at once nothing is started, and an end makes room', async () => {
  await using dir = await tempDir();
  const open: typeof shell.open = async (config, log) => ({
    ...(await shell.open(config, log)),
    foreground: { count: 0, max: 2 },
  });
  await using worker = await serveWorker({ ...shell, open }, shellCases(dir.root));
  const call = (script: string) => worker.call('shell::exec', { command: 'sh', args: ['-c', script] });
  const running = [1, 2].map((n) => call(`touch up${n}; while [ ! -e go ]; do sleep 0.05; done`));
  await expect.poll(() => existsSync(dir.path('up1')) && existsSync(dir.path('up2'))).toBe(true);
  await expect(call('touch ran')).rejects.toMatchObject(
    refused('max concurrent commands (2) reached, try again when some have ended'),
  );
  expect(existsSync(dir.path('ran'))).toBe(false);

  dir.add({ go: '' });
  await Promise.all(running);
  await expect(worker.call('shell::exec', { command: '/no/such', args: [] })).rejects.toThrow();
  expect(await call('touch ran')).toEqual(ended({}));
});

describe('output', () => {
  const print = (text: string, count: number) =>
    `i=0; while [ $i -lt ${count} ]; do printf '${text}'; i=$((i+1)); done`;

  test('shell.X25 what is over the cap is read and dropped', async () => {
    expect(await call({ command: 'sh', args: ['-c', print('0123456789abcdef', 500)] })).toEqual(
      ended({ stdout: '0123456789abcdef'.repeat(256), stdout_truncated: true }),
    );
  });

  test('output of exactly the cap is whole', async () => {
    expect(await call({ command: 'sh', args: ['-c', print('0123456789abcdef', 256)] })).toEqual(
      ended({ stdout: '0123456789abcdef'.repeat(256) }),
    );
  });

  test('shell.X27 much on both streams, one after the other, does not deadlock', async () => {
    const block = print('x'.repeat(1024), 200);
    expect(await call({ command: 'sh', args: ['-c', `{ ${block}; } >&2; ${block}`] })).toEqual(
      ended({
        stdout: 'x'.repeat(4096),
        stderr: 'x'.repeat(4096),
        stdout_truncated: true,
        stderr_truncated: true,
      }),
    );
  });

  test('shell.X28 a character that the cap cuts in two is replaced', async () => {
    const { stdout } = await call({ command: 'printf', args: [`${'x'.repeat(4095)}éy`] });
    expect(stdout).toBe(`${'x'.repeat(4095)}\u{fffd}`);
  });

  test('bytes that are not UTF-8 are replaced, and a BOM stays', async () => {
    expect(await call({ command: 'printf', args: [String.raw`\357\273\277a\377b`] })).toEqual(
      ended({ stdout: '\u{feff}a\u{fffd}b' }),
    );
  });
});

describe('surroundings', () => {
  test('shell.X30 standard input is empty', async () => {
    expect(await call({ command: 'cat' })).toEqual(ended({}));
  });

  test('standard input is what the call gives', async () => {
    expect(await call({ command: 'cat', args: [], stdin: 'ä\n' })).toEqual(ended({ stdout: 'ä\n' }));
  });

  test('much on standard input reaches a command that prints it back', async () => {
    const stdin = 'x'.repeat(2 ** 20);
    expect(await call({ command: 'cat', stdin }, { max_output_bytes: 2 ** 21 })).toEqual(ended({ stdout: stdin }));
  });

  test('a command that does not read its input ends as usual', async () => {
    expect(await call({ command: 'echo', args: ['x'], stdin: 'y'.repeat(2 ** 20) })).toEqual(ended({ stdout: 'x\n' }));
  });

  test('shell.X31 a program that does not exist', async () => {
    await expect(call({ command: '_no_such_' }, { allowlist: [] })).rejects.toMatchObject({
      code: 'S216',
      message: expect.stringMatching(/^host exec: .*_no_such_/),
    });
  });

  test('commands start in fs.host_root when the worker was started elsewhere', async () => {
    await using dir = await tempDir();
    expect(await run(exec, { command: 'pwd' }, shellCases(dir.root))).toEqual(ended({ stdout: `${dir.root}\n` }));
  });

  test('commands start where the worker was started when that is in fs.host_root', async () => {
    expect(await run(exec, { command: 'pwd' }, shellCases('/'))).toEqual(ended({ stdout: `${process.cwd()}\n` }));
  });

  test('commands start in working_dir', async () => {
    await using dir = await tempDir({ 'a/b/': '' });
    const config = shellCases(dir.root, { working_dir: dir.path('a') });
    expect(await run(exec, { command: 'pwd' }, config)).toEqual(ended({ stdout: `${dir.root}/a\n` }));
    expect(await run(exec, { command: 'pwd', cwd: 'b' }, config)).toEqual(ended({ stdout: `${dir.root}/a/b\n` }));
  });

  test.each([
    ['a relative path', 'a/b', '/a/b'],
    ['an absolute path', '$J/a', '/a'],
    ['a link that stays inside', 'link', '/a/b'],
  ])('cwd may be %s', async (_, cwd, expected) => {
    await using dir = await tempDir({ 'a/b/': '', link: { symlink: 'a/b' } });
    const reply = await run(exec, { command: 'pwd', cwd: cwd.replace('$J', dir.root) }, shellCases(dir.root));
    expect(reply).toEqual(ended({ stdout: `${dir.root}${expected}\n` }));
  });

  test.each([
    ['..', 'S215', '.. leaves the root; name a path inside it'],
    ['/etc', 'S215', '/etc leaves the root; name a path inside it'],
    ['out', 'S215', 'out leaves the root; name a path inside it'],
    ['missing', 'S211', 'missing does not exist'],
    ['file', 'S212', 'file is not a directory'],
  ])('a cwd of %s is refused with %s', async (cwd, code, message) => {
    await using dir = await tempDir({ file: '', out: { symlink: '/etc' } });
    await expect(run(exec, { command: 'pwd', cwd }, shellCases(dir.root))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });
});

describe('target', () => {
  test.each([
    ['an unknown kind', { kind: 'moon' }],
    ['an id that is not a UUID', { kind: 'sandbox', sandbox_id: 'x' }],
    ['no id', { kind: 'sandbox' }],
    ['null', null],
  ])('shell.X33 %s runs nothing', async (_, target) => {
    await using dir = await tempDir();
    const payload = { command: 'sh', args: ['-c', 'touch ran'], target };
    await expect(run(exec, payload, shellCases(dir.root))).rejects.toMatchObject(
      refused(expect.stringMatching(/^(`target|missing field `target)/)),
    );
    expect(existsSync(dir.path('ran'))).toBe(false);
  });

  test('shell.X34 a sandbox is refused when the operator switched them off', async () => {
    const payload = { command: 'echo', args: ['hi'], target: { kind: 'sandbox', sandbox_id: SANDBOX } };
    await expect(call(payload, { sandbox: { enabled: false } })).rejects.toMatchObject({
      code: 'S210',
      message: expect.stringMatching(/^sandbox target disabled in config: .* sandbox\.enabled: true/),
    });
    await expect(call({ ...payload, command: 'nmap' }, { sandbox: { enabled: false } })).rejects.toMatchObject(
      refused("command 'nmap' not in allowlist"),
    );
  });

  test.each([{ cwd: '.' }, { env: { LANG: 'C' } }, { stdin: '' }])('%j is for the host only', async (field) => {
    const target = { kind: 'sandbox', sandbox_id: SANDBOX };
    await expect(call({ command: 'echo', target, ...field })).rejects.toMatchObject({
      code: 'S210',
      message: `'${Object.keys(field)[0]}' is for host targets only`,
    });
  });
});

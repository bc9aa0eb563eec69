import { readdirSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { silentLog } from '#contract';
import { rounds, tempDir, withEnoughTime } from '#testing/basics';
import type { ExecutionResult } from '../process/index.ts';
import type { ChildSpec } from './child.ts';
import { Children } from './children.ts';
import { groupMarks } from './job-marks.ts';
import { openContainment } from './containments/open-containment.ts';
import { CONTAINMENTS, type Containment } from './containments/containment.ts';
import { SpawnError } from './spawn-error.ts';

const PATH = process.env.PATH!;
/** Jobs under each containment. */
const AT_ONCE = rounds(40, 200, 200);
/** Sleep times that no other process uses, by which the test finds its sleepers. */
const naps = [0, 1, 2, 3, 4].map((nap) => `471${nap}.${process.pid}`);
const working = await worksHere();

test('uses the best containment that works', async () => {
  const children = await Children.open();
  await children.close();
  expect(children.containment).toBe(working[0]);
});

describe.each(working)('a child with containment %s', (containment) => {
  let children: Children;
  beforeAll(async () => void (children = await Children.open({ containment })));
  afterAll(() => children.close());

  const isMarkedByVariable = containment === 'session' && groupMarks() === undefined;
  const start = (spec: Partial<ChildSpec>) =>
    children.start({ argv: [], env: { PATH }, maxOutputBytes: 1000, ...spec });
  const run = async (argv: string[], spec: Partial<ChildSpec> = {}) =>
    texts(await (await start({ argv, ...spec })).done);

  test('answers with its exit code and both streams', async () => {
    expect(await run(['sh', '-c', 'echo out; echo err >&2; exit 3'])).toEqual(
      result({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' }),
    );
  });

  test('has no exit code after a signal ended it', async () => {
    expect(await run(['sh', '-c', 'kill -TERM $$'])).toEqual(result({ exitCode: null, signal: 'SIGTERM' }));
  });

  test('is ended by a signal sent right after its start', async () => {
    for (let round = 0; round < rounds(5, 20, 200); round++) {
      const { process, done } = await start({ argv: ['sleep', '100'], timeoutMs: 30_000 });
      await process.sendSignal('SIGTERM');
      expect(await done).toMatchObject({ signal: 'SIGTERM', timedOut: false });
    }
  });

  test('is looked up in the PATH of its own environment', async () => {
    await using dir = await tempDir({ 'bin/hello': { content: '#!/bin/sh\necho "$0" "$@"\n', mode: 0o755 } });
    const { stdout } = await run(['hello', 'a b', '', '*'], { env: { PATH: `/nowhere:${dir.path('bin')}` } });
    expect(stdout).toBe(`${dir.path('bin/hello')} a b  *\n`);
  });

  test('gets exactly the environment it is given', async () => {
    const env = { A: '1', 'b.c': 'x=y', EMPTY: '', PWD: '/else', ÜML: 'ä\nö' };
    const { stdout } = await run(['/usr/bin/env', '-0'], { env });
    // A variable marks the job if nothing else contains it.
    const given = stdout
      .split('\0')
      .filter((line) => line && !(isMarkedByVariable && line.startsWith('WORKCELL_JOB=')));
    expect(new Set(given)).toEqual(new Set(Object.entries(env).map(([name, value]) => `${name}=${value}`)));
  });

  test('runs in the directory it is given', async () => {
    await using dir = await tempDir({ 'a b/': '' });
    expect((await run(['pwd', '-P'], { cwd: dir.path('a b') })).stdout).toBe(`${dir.path('a b')}\n`);
    expect((await run(['pwd', '-P'])).stdout).toBe(`${process.cwd()}\n`);
  });

  test('reads the given stdin, and otherwise an empty one', async () => {
    const stdin = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const { stdout } = await (await start({ argv: ['cat'], stdin, maxOutputBytes: stdin.length })).done;
    expect(stdout.equals(stdin)).toBe(true);
    expect(await run(['cat'])).toEqual(result({}));
  });

  test('need not read its stdin', async () => {
    expect(await run(['true'], { stdin: Buffer.alloc(1 << 20) })).toEqual(result({}));
  });

  test.each([
    [9, { stdout: '0123456789'.slice(0, 9), stdoutTruncated: true }],
    [10, { stdout: '0123456789' }],
    [0, { stdout: '', stdoutTruncated: true }],
  ])('keeps the first %i bytes of ten', async (maxOutputBytes, expected) => {
    expect(await run(['printf', '0123456789'], { maxOutputBytes })).toEqual(result(expected));
  });

  test('is not blocked by output beyond the cap', async () => {
    const argv = [
      'sh',
      '-c',
      'head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2; echo over > /dev/null; exit 7',
    ];
    const { exitCode, stdout, stderr, stdoutTruncated, stderrTruncated } = await (await start({ argv })).done;
    expect({ exitCode, stdoutTruncated, stderrTruncated }).toEqual({
      exitCode: 7,
      stdoutTruncated: true,
      stderrTruncated: true,
    });
    expect([stdout, stderr].map((bytes) => bytes.equals(Buffer.alloc(1000)))).toEqual([true, true]);
  });

  test('is killed at its timeout, and its output is kept', async () => {
    const late = (timeoutMs: number) => run(['sh', '-c', 'echo early; sleep 60; echo late'], { timeoutMs });
    expect(await withEnoughTime([300, 3000, 20_000], late, ({ stdout }) => stdout !== '')).toEqual(
      result({ exitCode: null, signal: 'SIGKILL', timedOut: true, stdout: 'early\n' }),
    );
  });

  test('with a timeout of 0 is killed at once', async () => {
    expect(await run(['sleep', '30'], { timeoutMs: 0 })).toEqual(
      result({ exitCode: null, signal: 'SIGKILL', timedOut: true }),
    );
  });

  test('may have a timeout longer than a timer allows', async () => {
    expect(await run(['sleep', '0.1'], { timeoutMs: 2 ** 40 })).toEqual(result({}));
  });

  test('can be killed with all its descendants', async () => {
    const child = await start({
      argv: ['sh', '-c', `trap "" TERM HUP INT; setsid sleep ${naps[1]} & sleep ${naps[1]}; sleep ${naps[1]}`],
    });
    await until(() => membersAlive(naps[1]!) >= 2);
    await child.kill();
    expect(membersAlive(naps[1]!)).toBe(0);
    expect(texts(await child.done)).toEqual(result({ exitCode: null, signal: 'SIGKILL' }));
    await child.kill();
  });

  test('resolves at its exit, and processes left in its session are killed', async () => {
    expect(await run(['sh', '-c', `sleep ${naps[2]} & echo done`])).toEqual(result({ stdout: 'done\n' }));
    expect(membersAlive(naps[2]!)).toBe(0);
  });

  test('kills descendants that left its session and closed its pipes', async () => {
    const script = `setsid sleep ${naps[3]} </dev/null >/dev/null 2>&1 & sleep 0.1; echo done`;
    expect(await run(['sh', '-c', script])).toEqual(result({ stdout: 'done\n' }));
    await until(() => membersAlive(naps[3]!) === 0);
  });

  test('waits for output that arrives right after the exit', async () => {
    const script = '(while [ -d /proc/$$ ]; do sleep 0.005; done; sleep 0.02; echo late) & echo done';
    // On a busy machine they may arrive too late.
    const stdout = async () => (await run(['sh', '-c', script])).stdout;
    await expect.poll(stdout).toBe('done\nlate\n');
  });

  test('shows its output while it runs', async () => {
    const child = await start({ argv: ['sh', '-c', 'echo now; echo oops >&2; sleep 30'] });
    await until(() => child.outputSoFar().stderr.length > 0 && child.outputSoFar().stdout.length > 0);
    expect(child.outputSoFar()).toEqual({
      stdout: Buffer.from('now\n'),
      stderr: Buffer.from('oops\n'),
      stdoutTruncated: false,
      stderrTruncated: false,
    });
    await child.kill();
  });

  test('inherits three descriptors and no more', async () => {
    const script =
      'for fd in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do [ ! -e /proc/$$/fd/$fd ] || echo $fd; done';
    await using dir = await tempDir({ 'list.sh': script });
    // The server itself has many descriptors open.
    expect(readdirSync('/proc/self/fd').length).toBeGreaterThan(10);
    expect((await run(['sh', '-c', script])).stdout).toBe('0\n1\n2\n');
    expect((await run(['sh', '-s'], { stdin: readFileSync(dir.path('list.sh')) })).stdout).toBe('0\n1\n2\n');
  });

  test.each([
    [['no-such-program'], {}, 'ENOENT', 'no-such-program was not found'],
    [['./none'], {}, 'ENOENT', './none was not found'],
    [['/etc/passwd'], {}, 'EACCES', '/etc/passwd is not executable by this user'],
    [['/etc'], {}, 'EACCES', '/etc is not executable by this user'],
    [['/etc/passwd/x'], {}, 'ENOTDIR', '/etc/passwd/x has a file as a parent directory'],
    [['true'], { cwd: '/no/such/dir' }, 'CWD', 'the working directory does not exist'],
    [['true'], { cwd: '/etc/passwd' }, 'CWD', 'the working directory does not exist'],
    [['true', 'x'.repeat(300_000)], {}, 'E2BIG', /^true was given more arguments and environment than/],
    [[], {}, 'EINVAL', 'the command is empty'],
    [[''], {}, 'EINVAL', 'the command is empty'],
    [['a\0b'], {}, 'EINVAL', 'the program name contains a NUL byte'],
    [['true', 'a', 'b\0'], {}, 'EINVAL', 'argument 2 contains a NUL byte'],
    [['true'], { env: { PATH, A: 'x\0y' } }, 'EINVAL', 'the environment variable A contains a NUL byte'],
    [['true'], { env: { PATH, 'A=B': '' } }, 'EINVAL', '"A=B" is not a name for an environment variable'],
    [['true'], { env: { PATH, '': 'x' } }, 'EINVAL', '"" is not a name for an environment variable'],
  ] as const)('%j with %j is not started: %s', async (argv, spec, code, message) => {
    const starting = start({ argv, ...spec });
    await expect(starting).rejects.toThrow(SpawnError);
    await expect(starting).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test(`runs ${AT_ONCE} times at once without leaking a descriptor`, async () => {
    const before = readdirSync('/proc/self/fd').length;
    const runs = Array.from({ length: AT_ONCE }, (_, index) => run(['sh', '-c', `echo ${index}; exit ${index % 7}`]));
    expect(await Promise.all(runs)).toEqual(
      runs.map((_, index) => result({ exitCode: index % 7, stdout: `${index}\n` })),
    );
    await until(() => readdirSync('/proc/self/fd').length <= before + 3);
  }, 60_000);
});

test.each(working)('%s: close() kills every job, also those that are still starting', async (containment) => {
  const children = await Children.open({ containment });
  const spec = { argv: ['sh', '-c', `setsid sleep ${naps[4]} & sleep ${naps[4]}`], env: { PATH }, maxOutputBytes: 0 };
  const running = await Promise.all([children.start(spec), children.start(spec)]);
  await until(() => membersAlive(naps[4]!) >= 4);
  const starting = children.start(spec);
  await children.close();
  expect(membersAlive(naps[4]!)).toBe(0);
  for (const child of [...running, await starting]) expect((await child.done).signal).toBe('SIGKILL');
  await expect(children.start(spec)).rejects.toThrow('no child is started after close');
});

describe.runIf(working.includes('cgroup1'))('shell.P17 a child in a cgroup that it may change', () => {
  const OWN = '/sys/fs/cgroup/pids$(sed -n "s/.*:pids://p" /proc/self/cgroup)';

  test.each([
    ['leaves it', `echo $$ > ${OWN}/../../cgroup.procs; echo out`],
    // A group stays busy for a moment after its last process has ended.
    [
      'leaves it and removes it',
      `group=${OWN}; echo $$ > $group/../../cgroup.procs; until rmdir $group 2> /dev/null; do sleep 0.01; done; echo out`,
    ],
  ])('and %s is killed at its timeout', async (_, script) => {
    const children = await Children.open({ containment: 'cgroup1' });
    const late = async (timeoutMs: number) => {
      const argv = ['sh', '-c', `${script}; exec sleep 60`];
      const child = await children.start({ argv, env: { PATH }, maxOutputBytes: 1000, timeoutMs });
      return texts(await child.done);
    };
    expect(await withEnoughTime([500, 3000, 20_000], late, ({ stdout }) => stdout !== '')).toEqual(
      result({ exitCode: null, signal: 'SIGKILL', timedOut: true, stdout: 'out\n' }),
    );
    await children.close();
  });

  test('and creates and removes groups in a loop is killed', async () => {
    const script = `
      const { mkdirSync, readFileSync, rmdirSync } = require('node:fs');
      const group = '/sys/fs/cgroup/pids' + /:pids:(.*)/.exec(readFileSync('/proc/self/cgroup', 'utf8'))[1] + '/x';
      console.log('begun');
      for (;;) { mkdirSync(group); rmdirSync(group); }`;
    const children = await Children.open({ containment: 'cgroup1' });
    for (let round = 0; round < rounds(40, 80, 400); round++) {
      const child = await children.start({
        argv: [process.execPath, '-e', script],
        env: { PATH },
        maxOutputBytes: 1000,
      });
      await until(() => child.outputSoFar().stdout.length > 0);
      await child.kill();
      expect(texts(await child.done)).toEqual(result({ exitCode: null, signal: 'SIGKILL', stdout: 'begun\n' }));
    }
    await children.close();
  });
});

async function worksHere(): Promise<Containment[]> {
  const names: Containment[] = [];
  for (const name of CONTAINMENTS) {
    try {
      await (await openContainment({ name, log: silentLog })).close();
      names.push(name);
    } catch (error) {
      console.log(`${name} is not tested here: ${String(error)}`);
    }
  }
  return names;
}

/** A result with its duration checked and left out. */
function texts({ durationMs, stdout, stderr, ...rest }: ExecutionResult) {
  expect(durationMs).toBeGreaterThan(0);
  return { ...rest, stdout: stdout.toString(), stderr: stderr.toString() };
}

function result(facts: Partial<ReturnType<typeof texts>>) {
  const ordinary = { exitCode: 0, signal: null, timedOut: false, stdoutTruncated: false, stderrTruncated: false };
  return { ...ordinary, stdout: '', stderr: '', ...facts };
}

/** Processes that live and have the word among their arguments. */
function membersAlive(word: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  }).length;
}

async function until(isTrue: () => boolean): Promise<void> {
  await expect.poll(isTrue, { interval: 5 }).toBe(true);
}

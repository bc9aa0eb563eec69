/** Contract tests of commands in a machine: start, input, output, end. */
import { setTimeout as passed } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { rounds, withEnoughTime } from '#testing';
import type { Subject } from './backend.contract.ts';
import { scope, sharedMachine, startMachine } from './machine.contract.ts';

export function commandContract(subject: () => Subject): void {
  const slowness = () => subject().slowness ?? 1;
  const start = () => startMachine(subject().backend, subject().shape, slowness());
  const shared = sharedMachine(start);

  test('a command has its exit code and both streams apart', async () => {
    const machine = await shared();
    const outcome = await machine.exec(['sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect(outcome).toEqual({
      exitCode: 3,
      signal: null,
      timedOut: false,
      stdout: Buffer.from('out\n'),
      stderr: Buffer.from('err\n'),
      stdoutTruncated: false,
      stderrTruncated: false,
      durationMs: expect.any(Number),
    });
  });

  test('a command that a signal ends has 128 and its number', async () => {
    const machine = await shared();
    expect([await machine.sh('kill -9 $$'), await machine.sh('kill -15 $$')].map(({ exitCode }) => exitCode)).toEqual([
      137, 143,
    ]);
  });

  test('a command gets the environment it is given and no more', async () => {
    const machine = await shared();
    const { stdout } = await machine.sh('env', {
      env: [
        ['A', 'ä = "1"\n2'],
        ['PATH', '/bin'],
      ],
    });
    expect(stdout.split('\n').filter((line) => !/^(PWD|SHLVL|_|OLDPWD)=/.test(line))).toEqual([
      'A=ä = "1"',
      '2',
      'PATH=/bin',
    ]);
  });

  test('a command starts in its cwd', async () => {
    const machine = await shared();
    expect([await machine.sh('pwd', { cwd: '/home' }), await machine.sh('pwd')].map(({ stdout }) => stdout)).toEqual([
      '/home',
      '/',
    ]);
  });

  test.each([
    ['a program that is not there', ['/no/such'], {}, { code: 'ENOENT', about: 'program' }],
    ['a word that is not on the PATH', ['no-such-word'], {}, { code: 'ENOENT', about: 'program' }],
    ['a directory', ['/home'], {}, { code: 'EACCES', about: 'program' }],
    ['a file without the permission', ['/image-file'], {}, { code: 'EACCES', about: 'program' }],
    ['a directory to start in that is not there', ['true'], { cwd: '/nowhere' }, { code: 'ENOENT', about: 'workdir' }],
    ['a text that is not a program', ['/tmp/script'], {}, { code: 'ENOEXEC', about: 'program' }],
    ['a NUL in a word', ['echo', 'a\0b'], {}, { code: 'EINVAL' }],
    ['more words than a system takes', ['echo', 'x'.repeat(3_000_000)], {}, { code: 'E2BIG', about: 'program' }],
    ['more than a request may hold', ['echo', 'x'.repeat(5_000_000)], {}, { code: 'E2BIG', about: 'program' }],
  ])('%s is reported as such', async (_, argv, more, expected) => {
    const machine = await shared();
    await machine.sh('echo echo hi > /tmp/script; chmod 755 /tmp/script');
    await expect(machine.exec(argv, more)).rejects.toMatchObject(expected);
    expect((await machine.sh('echo still here')).stdout).toBe('still here');
  });

  test('a folder of the PATH whose name is too long is passed over', async () => {
    const machine = await shared();
    const env = [['PATH', `/${'x'.repeat(5000)}:/bin`]] as const;
    expect(await machine.exec(['true'], { env })).toMatchObject({ exitCode: 0 });
    await expect(machine.exec(['no-such-word'], { env })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('sandbox.C30 five MiB of input arrive', async () => {
    const machine = await shared();
    const { stdout } = await machine.sh('wc -c', { stdin: Buffer.alloc(5 * 2 ** 20, 'x') });
    expect(stdout).toBe('5242880');
  });

  test('a command without input finds its end at once', async () => {
    const machine = await shared();
    expect(await machine.sh('cat; echo end')).toEqual({ stdout: 'end', stderr: '', exitCode: 0 });
  });

  test('unread input holds up nothing', async () => {
    const machine = await shared();
    const deaf = machine.sh('until [ -e /tmp/go ]; do sleep 0.05; done; echo done', {
      stdin: Buffer.alloc(3 * 2 ** 20, 'x'),
    });
    expect((await machine.sh('echo quick')).stdout).toBe('quick');
    expect(await machine.files.stat('/', scope())).toMatchObject({ kind: 'directory' });
    await machine.sh('touch /tmp/go');
    expect((await deaf).stdout).toBe('done');
  });

  test('sandbox.C21 of output so much is kept as was asked for, and the rest is passed over', async () => {
    const machine = await shared();
    const outcome = await machine.exec(['sh', '-c', 'head -c 3145728 /dev/zero; head -c 10 /dev/zero >&2']);
    expect(outcome).toMatchObject({ exitCode: 0, stdoutTruncated: true, stderrTruncated: false });
    expect([outcome.stdout.length, outcome.stderr.length]).toEqual([1_048_576, 10]);
  });

  test('a flood of one command leaves the others their turn', async () => {
    const machine = await shared();
    const script = 'yes & while [ ! -e /tmp/enough ]; do sleep 0.1; done; kill $!';
    const flood = machine.exec(['sh', '-c', script], { maxOutputBytes: 65_536 });
    for (let i = 0; i < 10; i++) expect((await machine.sh('echo turn')).stdout).toBe('turn');
    await machine.sh('touch /tmp/enough');
    expect(await flood).toMatchObject({ exitCode: 0, stdoutTruncated: true });
  });

  test('sandbox.C20 sandbox.C33 when time is up all that came from a command is gone, and what it printed is there', async () => {
    const machine = await shared();
    const script = 'sleep 301 & (setsid sleep 302 &) ; setsid sh -c "sleep 303 & sleep 304" & echo partial; sleep 305';
    const late = (timeoutMs: number) => machine.sh(script, { timeoutMs });
    expect(await withEnoughTime([500 * slowness(), 5_000, 30_000], late, ({ stdout }) => stdout !== '')).toEqual({
      stdout: 'partial',
      stderr: '',
      exitCode: 'timed-out',
    });
    expect((await machine.sh('ps -o args | grep -c "[s]leep 30"')).stdout).toBe('0');
  });

  test('a command that is no longer wanted is gone too', async () => {
    const machine = await shared();
    const wanted = new AbortController();
    const running = machine.sh('sleep 306', { signal: wanted.signal });
    await passed(100);
    wanted.abort(new Error('the caller left'));
    await expect(running).rejects.toThrow('the caller left');
    expect((await machine.sh('ps -o args | grep -c "[s]leep 306"')).stdout).toBe('0');
  });

  test('a command that is cancelled at any moment of its start does not run', async () => {
    const machine = await shared();
    for (let i = 0; i < 40; i++) {
      const wanted = new AbortController();
      const running = machine.sh('sleep 307', { signal: wanted.signal }).catch(() => {});
      await passed(i / 10);
      wanted.abort(new Error('the caller left'));
      await running;
    }
    expect((await machine.sh('ps -o args | grep -c "[s]leep 307"')).stdout).toBe('0');
  });

  test('a forking command cannot outrun its end', async () => {
    const machine = await shared();
    // Every process starts another and exits: none of them lives long. Few enough that the shell can still fork.
    const script = 'f() { (f &) ; }; f; f; f; f; while true; do (sleep 307 &); sleep 0.02; done';
    // An escape happens once in ten times.
    const [times, timeoutMs] = slowness() === 1 ? [4, 500] : [1, 300 * slowness()];
    for (let round = 0; round < times; round++) {
      expect(await machine.sh(script, { timeoutMs })).toMatchObject({ exitCode: 'timed-out' });
      expect((await machine.sh('ps -o args | grep -c "[s]leep 307"')).stdout).toBe('0');
    }
  });

  test('a command whose time ran out leaves nothing, and one that ended leaves what it started', async () => {
    await using machine = await start();
    const left: string[] = [];
    for (let i = 100; i < 130; i++) {
      // A leftover process has the output open for a moment after the command has ended.
      const { exitCode } = await machine.sh(`sleep 3${i} &`, {
        timeoutMs: Math.round(2 ** ((i - 100) / 2.5)) * slowness(),
      });
      if (exitCode !== 'timed-out') left.push(`3${i}`);
    }
    const { stdout } = await machine.sh('ps -o args | grep "^sleep" | cut -c 7-');
    expect(stdout.split('\n').toSorted()).toEqual(left);
    expect(left.length).toSatisfy((count: number) => count > 0 && count < 30);
  });

  test('background processes of a command are not waited for, keep running, and may keep writing', async () => {
    await using machine = await start();
    const script = '(while true; do echo tick; echo tock >&2; echo x >> /tmp/ticks; sleep 0.05; done) & echo started';
    const reply = await machine.exec(['sh', '-c', script], { timeoutMs: 10_000 * slowness() });
    expect(reply).toMatchObject({ exitCode: 0, timedOut: false });

    const before = Number((await machine.sh('wc -l < /tmp/ticks')).stdout);
    await expect
      .poll(async () => Number((await machine.sh('wc -l < /tmp/ticks')).stdout), { timeout: 30_000 * slowness() })
      .toBeGreaterThan(before + 5);
  });

  test('many commands at once each get their own output', async () => {
    const machine = await shared();
    const count = slowness() > 1 ? rounds(10, 40, 40) : 40;
    const numbers = Array.from({ length: count }, (_, i) => String(i));
    const replies = await Promise.all(numbers.map((n) => machine.sh(`sleep 0.0${n}; echo ${n}`)));
    expect(replies.map(({ stdout }) => stdout)).toEqual(numbers);
  });

  test('a command runs as another user on request', async () => {
    const machine = await shared();
    const { stdout, exitCode } = await machine.sh('id -u; id -g; id -G; echo x > /root/x; echo $?', {
      uid: 65534,
      gid: 65534,
    });
    // A machine of an ordinary user has only one id.
    if (exitCode === 'EINVAL' || exitCode === 'EPERM') return;
    expect(stdout.split('\n')).toEqual(['65534', '65534', '65534', '1']);
  });
}

/** Contract tests of terminals in a machine: size, keys, job control, signals, every byte, and the end. */
import { describe, expect, test } from 'vitest';

import { Execution } from '#host';
import { ALL_OUTPUT, type GuestCommand } from '#sandbox/guest';
import { rounds } from '#testing';
import type { Subject } from './backend.contract.ts';
import { sharedMachine, startMachine } from './machine.contract.ts';

const SIZE = { columns: 100, rows: 30 };

export function terminalContract(subject: () => Subject): void {
  const slowness = () => subject().slowness ?? 1;
  const shared = sharedMachine(() => startMachine(subject().backend, subject().shape, slowness()));
  const isPlain = () => subject().traits?.includes('plain-terminals') === true;
  const patience = () => ({ timeout: 30_000 * slowness() });

  const start = async (script: string, more: Partial<GuestCommand> = {}) => {
    const { agent } = await shared();
    const env = [['PATH', '/usr/bin:/bin']] as const;
    const command = { argv: ['/bin/sh', '-c', script], env, cwd: '/', maxOutputBytes: ALL_OUTPUT, isFollowed: true };
    const signal = AbortSignal.timeout(60_000 * slowness());
    const process = await agent.start({ ...command, ...more }, { signal });
    const work = new Execution(process, { maxOutputBytes: 4_000_000, signal });
    await process.started();
    const seen = () => work.outputSoFar().stdout.toString();
    return { work, seen, type: (text: string) => process.input.write(Buffer.from(text)) };
  };
  const inTerminal = (script: string, more: Partial<GuestCommand> = {}) => start(script, { terminal: SIZE, ...more });
  const until = async (seen: () => string, text: string) => {
    await expect.poll(seen, patience()).toContain(text);
  };

  describe('a terminal', () => {
    test('live.D10 is the controlling terminal of the command, and has its size', async () => {
      const { work } = await inTerminal(`tty; stty size; echo x > ${isPlain() ? '$(tty)' : '/dev/tty'}; exit 3`);
      const { stdout, exitCode } = await work.done;
      expect({ text: stdout.toString(), exitCode }).toEqual({
        text: expect.stringMatching(/^\/dev\/pts\/\d+\r\n30 100\r\nx\r\n$/),
        exitCode: 3,
      });
    });

    test('live.D10 belongs to the user of the command, which may open it by name', async () => {
      const { work } = await inTerminal('echo by name > $(tty); id -u', { uid: 65_534, gid: 65_534 });
      expect((await work.done).stdout.toString()).toBe('by name\r\n65534\r\n');
    });

    test('live.D10 takes keys, sizes and the end of input', async () => {
      const { work, seen, type } = await inTerminal('read x; echo "got $x"; read y; stty size; cat; echo over');
      await type('one\n');
      await until(seen, 'got one');
      work.process.resize!({ columns: 132, rows: 50 });
      await type('\n');
      await until(seen, '50 132');
      if (isPlain()) return work.kill();
      work.process.input.end();
      expect(await work.done).toMatchObject({ exitCode: 0 });
      expect(seen()).toMatch(/over\r\n$/);
    });

    test('live.D10 Ctrl-C interrupts what runs in it, and not the shell that waits', async () => {
      // The program prints that it runs: a key between a word of the shell and the program's start would be the shell's
      // alone.
      const program = `sh -c 'echo up; exec sleep 1000'`;
      const { work, seen, type } = await inTerminal(`trap "echo int" INT; ${program}; echo "after $?"`);
      await until(seen, 'up');
      await type('\x03');
      await work.done;
      expect(seen()).toMatch(/up\r\n(\^C)?(int\r\nafter 130|after 130\r\nint)/);
    });

    test('live.D10 a new size is reported to what runs in it', async () => {
      const { work, seen } = await inTerminal('trap "stty size; exit 4" WINCH; echo up; while :; do sleep 0.1; done');
      await until(seen, 'up');
      work.process.resize!({ columns: 70, rows: 20 });
      expect(await work.done).toMatchObject({ exitCode: 4 });
      expect(seen()).toContain('20 70');
    });

    test('live.D10 has job control: Ctrl-Z stops a program, fg continues it', async () => {
      const { work, seen, type } = await inTerminal('exec sh -i');
      await until(seen, '# ');
      // A shell with a line editor drops keys while it passes the terminal to a program and back.
      const typedAgain = async (line: string) => {
        const typed = async () => (await type(`${line}\n`), seen());
        await expect.poll(typed, { ...patience(), interval: 500 }).toContain(`${line}\r\n${line}`);
      };
      await type('cat\n');
      await until(seen, 'cat\r\n');
      await typedAgain('line one');
      await type('\x1a');
      await expect.poll(seen, patience()).toMatch(/Stopped[^]*# /);
      await type('fg\n');
      await until(seen, 'fg\r\n');
      await typedAgain('line two');
      await type('\x03');
      await expect.poll(seen, patience()).toMatch(/line two\r\n(\^C)?\r\n.*# /);
      await type('exit 7\n');
      expect(await work.done).toMatchObject({ exitCode: 7 });
    });

    test('live.D7 live.D10 no byte of 3 MB is missing', async () => {
      const count = slowness() > 1 ? rounds(1, 3, 20) : rounds(3, 20, 100);
      for (let round = 0; round < count; round++) {
        const { work } = await inTerminal('stty raw; head -c 3000000 /dev/zero | tr "\\0" x');
        expect((await work.done).stdout.length).toBe(3_000_000);
      }
    });

    test('live.D10 the last bytes come though a program holds it open, and later ones are dropped', async () => {
      const script =
        'stty raw; (trap "" HUP; while :; do sleep 1; done) & head -c 200000 /dev/zero | tr "\\0" x; exit 5';
      const { work } = await inTerminal(script);
      const { stdout, exitCode } = await work.done;
      expect({ bytes: stdout.length, exitCode }).toEqual({ bytes: 200_000, exitCode: 5 });
      await (await shared()).sh('killall -9 sleep sh; true');
    });

    test('live.D8 a kill ends what its session started', async () => {
      const { work, seen } = await inTerminal('sleep 4321 & setsid sleep 4321 & echo on; sleep 4321');
      await until(seen, 'on');
      await work.kill();
      expect(await work.done).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
      expect((await (await shared()).sh('pgrep -f "sleep 432[1]"')).stdout).toBe('');
    });

    test('live.D10 there are many at once, and they are given back', async () => {
      const count = slowness() > 1 ? rounds(8, 60, 60) : 60;
      for (let round = 0; round < 2; round++) {
        const all = await Promise.all(Array.from({ length: count }, () => inTerminal('read x; exit 6')));
        for (const { type } of all) await type('\n');
        const ends = await Promise.all(all.map(({ work }) => work.done));
        expect(ends.every(({ exitCode }) => exitCode === 6)).toBe(true);
      }
    });
  });

  describe('a followed command', () => {
    test('live.D10 gets signals, with all of its group, and reports the one that ended it', async () => {
      const trapped = await start('trap "echo usr1" USR1; trap "exit 8" TERM; echo up; while :; do sleep 0.1; done');
      await until(trapped.seen, 'up');
      await trapped.work.process.sendSignal('SIGUSR1');
      await until(trapped.seen, 'usr1');
      await trapped.work.process.sendSignal('SIGTERM');
      expect(await trapped.work.done).toMatchObject({ exitCode: 8, signal: null });

      const plain = await start('exec sleep 1000');
      await plain.work.process.sendSignal('SIGINT');
      expect(await plain.work.done).toMatchObject({ exitCode: 130, signal: 'SIGINT' });
    });

    test('live.D10 that cannot start says so before anything else', async () => {
      const { agent } = await shared();
      const command = { argv: ['/no/such'], env: [], cwd: '/', maxOutputBytes: ALL_OUTPUT, isFollowed: true };
      const process = await agent.start({ ...command, terminal: SIZE }, { signal: AbortSignal.timeout(60_000) });
      await expect(process.started()).rejects.toMatchObject({ code: 'ENOENT', about: 'program' });
    });
  });
}

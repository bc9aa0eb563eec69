/** Jobs with a terminal, on every way that holds jobs together here. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import type { ChildSpec } from './child.ts';
import { Children } from './children.ts';
import { CONTAINMENTS, type Containment } from './rung.ts';
import { terminalCalls } from '../terminal/terminal-calls.ts';

const PATH = process.env.PATH!;
const size = { columns: 100, rows: 30 };
const working = await worksHere();

async function worksHere() {
  const found: Containment[] = [];
  for (const containment of CONTAINMENTS) {
    const children = await Children.open({ containment }).catch(() => undefined);
    if (children) found.push(containment);
    await children?.close();
  }
  return found;
}

describe.skipIf(!terminalCalls())('a terminal', () => {
  describe.each(working)('of a job held by %s', (containment) => {
    let children: Children;
    beforeAll(async () => void (children = await Children.open({ containment })));
    afterAll(() => children.close());
    const start = (script: string, spec: Partial<ChildSpec> = {}) =>
      children.start({
        ...{ argv: ['sh', '-c', script], env: { PATH }, maxOutputBytes: 10_000, terminal: size, ...spec },
      });
    const run = async (script: string, spec: Partial<ChildSpec> = {}) => {
      const { exitCode, stdout } = await (await start(script, spec)).done;
      return { exitCode, text: stdout.toString() };
    };

    test('live.D6 is the controlling terminal of the job, and has its size', async () => {
      const { text, exitCode } = await run('tty; stty size; echo x > /dev/tty; exit 3');
      expect({ text, exitCode }).toEqual({
        text: expect.stringMatching(/^\/dev\/pts\/\d+\r\n30 100\r\nx\r\n$/),
        exitCode: 3,
      });
    });

    test('live.D7 shell.P21 no byte of 3 MB is missing', async () => {
      const count = containment === working[0] ? rounds(5, 100, 100) : 2;
      for (let round = 0; round < count; round++) {
        const script = 'stty raw; head -c 3000000 /dev/zero | tr "\\0" x';
        const { stdout } = await (await start(script, { maxOutputBytes: 4_000_000 })).done;
        expect(stdout.length).toBe(3_000_000);
      }
    });

    test('live.D6 takes keys, sizes and the end of input', async () => {
      const work = await start('read x; echo "got $x"; read y; stty size; cat; echo over', { keepsInput: true });
      await work.process.input!.write(Buffer.from('one\n'));
      await expect.poll(() => work.outputSoFar().stdout.toString()).toContain('got one');
      work.process.resize!({ columns: 132, rows: 50 });
      await work.process.input!.write(Buffer.from('\n'));
      await expect.poll(() => work.outputSoFar().stdout.toString()).toContain('50 132');
      work.process.input!.end();
      const { stdout, exitCode } = await work.done;
      expect(stdout.toString()).toContain('over');
      expect(exitCode).toBe(0);
      expect(work.process.input!.isClosed).toBe(true);
      // Neither does anything to a terminal that is gone.
      await work.process.input!.write(Buffer.from('late'));
      work.process.resize!(size);
    });

    test('live.D8 a kill ends what it started, and a program that does not exist is refused', async () => {
      const work = await start('sleep 4321.77 & setsid sleep 4321.77 & echo on; sleep 4321.77');
      await expect.poll(() => work.outputSoFar().stdout.toString()).toContain('on');
      await work.kill();
      expect(await work.done).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
      await expect(start('', { argv: ['_no_such_'] })).rejects.toThrow('_no_such_');
    });
  });
});

/** Jobs with a terminal, under every containment here, with each method to open one. */
import { chmodSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rounds, tempDir } from '#testing/basics';
import type { ChildSpec } from './child.ts';
import { Children } from './children.ts';
import { CONTAINMENTS, type Containment } from './containments/containment.ts';
import { openScriptTerminal, openTerminal } from '../terminal/open-terminal.ts';
import { findScript } from '../terminal/script-terminal.ts';
import { terminalCalls } from '../terminal/terminal-calls.ts';
import { NoTerminalError } from '../terminal/terminal.ts';

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

const ways = [
  ...(terminalCalls() ? [{ way: 'calls' as const, terminals: openTerminal }] : []),
  ...(findScript() ? [{ way: 'script' as const, terminals: openScriptTerminal }] : []),
];

test('live.D6 a host without koffi and script reports what to install', async () => {
  const terminals = () => {
    throw new NoTerminalError();
  };
  const children = await Children.open({ terminals });
  const start = children.start({ argv: ['sh'], env: { PATH }, maxOutputBytes: 1, terminal: size });
  await expect(start).rejects.toThrow(/install the optional package koffi .* or the program script/);
  await children.close();
});

test('live.D6 uses only the script of util-linux, from an absolute folder', async () => {
  await using dir = await tempDir({ script: '#!/bin/sh\necho "BusyBox v1.36"', stty: '' });
  for (const name of ['script', 'stty']) chmodSync(dir.path(name), 0o755);
  expect([findScript('/nowhere'), findScript('.:usr/bin'), findScript(dir.root)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

describe.each(ways)('a terminal made by $way', ({ way, terminals }) => {
  describe.each(working)('of a job with containment %s', (containment) => {
    let children: Children;
    beforeAll(async () => void (children = await Children.open({ containment, terminals })));
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

    test('live.D7 shell.P21 no byte of 3 MB is missing', { timeout: 600_000 }, async () => {
      const count = containment === working[0] && way === ways[0]!.way ? rounds(5, 100, 100) : 2;
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
      // Neither fails for a terminal that is closed.
      await work.process.input!.write(Buffer.from('late'));
      work.process.resize!(size);
    });

    test('live.D6 reports the signal that ended the program, or its number', async () => {
      const { exitCode, signal } = await (await start('kill -TERM $$')).done;
      const reported = { calls: { exitCode: null, signal: 'SIGTERM' }, script: { exitCode: 143, signal: null } };
      expect({ exitCode, signal }).toEqual(reported[way]);
    });

    test('live.D6 takes signals, which the program gets', async () => {
      const work = await start(
        `trap 'echo hup' HUP; trap 'echo over; exit 4' TERM; echo on; while :; do sleep 0.02; done`,
      );
      const seen = () => work.outputSoFar().stdout.toString();
      await expect.poll(seen).toContain('on');
      await work.process.sendSignal('SIGHUP');
      await expect.poll(seen).toContain('hup');
      await work.process.sendSignal('SIGTERM');
      expect((await work.done).exitCode).toBe(4);
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

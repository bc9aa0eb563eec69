/** The gate in front of QEMU, as the daemon opens it: when the program starts, and when it must not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { buildProgram, sourcePath } from '#sandbox/guest';
import { tempDir, type TempDir } from '#testing';

describe.skipIf(process.platform !== 'linux')('the gate', () => {
  let cache: TempDir;
  let program: string;

  beforeAll(async () => {
    cache = await tempDir();
    const sources = [sourcePath('start-gate.c', import.meta.url)];
    program = await buildProgram({ name: 'start-gate', sources, cacheDir: cache.root });
  });

  afterAll(() => cache[Symbol.asyncDispose]());

  test('starts the program when the byte comes and the daemon is there', async () => {
    const { gate, outcome } = start();
    gate.resume().write('x');
    expect(await outcome).toEqual({ code: 0, stdout: 'started\n' });
  });

  test('starts nothing when the daemon is gone without a word', async () => {
    const { gate, outcome } = start();
    gate.destroy();
    expect(await outcome).toEqual({ code: 1, stdout: '' });
  });

  test('starts nothing when the daemon died after the byte', async () => {
    const { child, gate, outcome } = start();
    child.kill('SIGSTOP');
    gate.end('x');
    await once(gate, 'finish');
    child.kill('SIGCONT');
    expect(await outcome).toEqual({ code: 1, stdout: '' });
  });

  function start() {
    const child = spawn(program, ['3', '/bin/echo', 'started'], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
    let stdout = '';
    child.stdout!.on('data', (piece: Buffer) => (stdout += piece.toString()));
    const outcome = once(child, 'close').then(([code]) => ({ code: code as number, stdout }));
    return { child, gate: child.stdio[3] as Duplex, outcome };
  }
});

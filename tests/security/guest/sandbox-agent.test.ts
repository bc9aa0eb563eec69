/**
 * The agent itself, among the processes of this machine: odd requests, a host that does not read, and a guest that
 * changes files under its hands.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rounds, tempDir, whyNoGuestRoot, type TempDir } from '#testing';
import { AgentClient } from '../../../src/sandbox/guest/agent-client.ts';
import { frameHeader, OP } from '../../../src/sandbox/guest/frames.ts';
import { GuestFiles } from '../../../src/sandbox/guest/guest-files.ts';
import { RequestBytes, UNSAID } from '../../../src/sandbox/guest/request-bytes.ts';
import { buildSanitized, faultsIn, processesNaming, reportingTo, startAgent } from './sandbox-agent-process.ts';

const why = whyNoGuestRoot();
const { signal } = new AbortController();

describe.skipIf(why !== undefined)(`the agent${why === undefined ? '' : ` (${why})`}`, () => {
  let programs: TempDir;
  let agent: string;
  beforeAll(async () => {
    programs = await tempDir();
    agent = buildSanitized(programs.path('agent'));
  });
  afterAll(() => programs[Symbol.asyncDispose]());

  test('odd paths break nothing in the children that change files', async () => {
    await using dir = await tempDir();
    await using logs = await tempDir();
    await using running = startAgent(agent, { cwd: dir.root, env: reportingTo(logs.root) });
    const client = await AgentClient.open(running.channel, { deadlineMs: 60_000 });
    for (const path of ['', 'a', 'a/', 'a//b', 'a/b/c/', '.', `${'n'.repeat(5000)}`, `${'d/'.repeat(200)}f`]) {
      const rights = () => new RequestBytes().u32(0o755).u32(UNSAID).u32(UNSAID);
      const requests: [op: number, request: RequestBytes][] = [
        [OP.write, rights().u8(true).u8(true).text(path)],
        [OP.mkdir, new RequestBytes().u32(0o755).u8(true).text(path)],
        [OP.chmod, rights().u8(true).text(path)],
        [OP.walk, new RequestBytes().u32(300).text(path)],
        [OP.rename, new RequestBytes().u8(true).text(path).text('moved/there')],
        [OP.rename, new RequestBytes().u8(false).text('a').text(path)],
        [OP.remove, new RequestBytes().u8(path !== '.').text(path)],
      ];
      for (const [op, request] of requests) {
        const stream = await client.request(op, request.bytes());
        stream.end();
        await stream.answer.catch(() => {});
        stream.abandon();
      }
    }
    expect(faultsIn(logs.root)).toEqual([]);
  }, 60_000);

  test('output that is not kept is drained while the host does not read, so its command ends', async () => {
    await using dir = await tempDir();
    await using running = startAgent(agent, { cwd: dir.root });
    const { channel } = running;
    const run = (id: number, keptBytes: number, script: string) => {
      const head = new RequestBytes().u32(UNSAID).u32(UNSAID).u32(keptBytes).u32(keptBytes).u8(false).u32(3).u32(0);
      const request = head.text(dir.root).text('/bin/sh').text('-c').text(script).bytes();
      channel.write(Buffer.concat([frameHeader(id, OP.exec, request.length), request]));
    };
    channel.write(Buffer.concat([frameHeader(0, OP.hello, 4), Buffer.from([1, 0, 0, 0])]));
    run(1, 0, 'while [ ! -e go ]; do sleep 0.05; done; head -c 5000000 /dev/zero; : > done');
    for (let id = 2; id <= 17; id++) run(id, 1e9, 'cat /dev/zero');
    // The unread output fills the connection to the host: then the agent writes nothing for a while.
    const writtenBytes = () => /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${running.pid}/io`, 'latin1'))![1];
    const isStuck = async () => {
      const before = writtenBytes();
      await sleep(300);
      return writtenBytes() === before;
    };
    await expect.poll(() => channel.readableLength).toBeGreaterThan(0);
    await expect.poll(isStuck).toBe(true);
    writeFileSync(dir.path('go'), '');
    await expect.poll(() => existsSync(dir.path('done'))).toBe(true);
  });

  test('changing a tree touches no other, though links appear in it', async () => {
    await using dir = await tempDir({ outside: 'x', 'tree/d/': '' });
    await using running = startAgent(agent, { cwd: dir.root });
    const files = new GuestFiles(await AgentClient.open(running.channel, { deadlineMs: 60_000 }));
    const swapper = new Worker(SWAPPER, { eval: true, workerData: dir.path('tree/d') });
    try {
      for (let round = 0; round < rounds(400, 2000, 20_000); round++) {
        await files.chmod(dir.path('tree'), { mode: 0o700, recursive: true, signal }).catch(() => {});
        if ((statSync(dir.path('outside')).mode & 0o777) === 0o700) break;
      }
    } finally {
      await swapper.terminate();
    }
    expect(statSync(dir.path('outside')).mode & 0o777).not.toBe(0o700);
  });

  test('a command that is cancelled at once never runs on', async () => {
    await using dir = await tempDir();
    await using running = startAgent(agent, { cwd: dir.root });
    const client = await AgentClient.open(running.channel, { deadlineMs: 60_000 });
    const mark = `${60_000 + (process.pid % 1000)}.${process.pid}`;
    for (let round = 0; round < rounds(80, 400, 4000); round++) {
      const request = new RequestBytes().u32(UNSAID).u32(UNSAID).u32(0).u32(0).u8(false).u32(2).u32(0).text('/');
      const stream = await client.request(OP.exec, request.text('/bin/sleep').text(mark).bytes());
      await sleep(round % 4);
      stream.cancel();
      await stream.answer;
    }
    expect(processesNaming(mark)).toEqual([]);
  });
});

const SWAPPER = `
const { renameSync, symlinkSync, writeFileSync } = require('node:fs');
const { workerData: folder } = require('node:worker_threads');
for (;;) {
  writeFileSync(folder + '/a', '');
  symlinkSync('../../outside', folder + '/b');
  renameSync(folder + '/b', folder + '/a');
  require('node:fs').rmSync(folder + '/a');
}
`;

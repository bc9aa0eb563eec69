/** The memory of the server does not grow with the output of jobs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { ChildrenServer } from './shell-orphans-server.ts';

const MB = 1024 * 1024;
const CAP_BYTES = MB;
const FLOOD_MB = rounds(300, 300, 4000);
/** A server that read it all itself would need more, for garbage that is not collected yet. */
const MAX_GROWTH_BYTES = 16 * MB;
/** Where the end is kept the server reads it all, and V8 lets some tens of MB of read buffers gather before it collects. */
const MAX_READ_GROWTH_BYTES = 64 * MB;

let server: ChildrenServer;
beforeAll(async () => {
  server = await ChildrenServer.start('best');
}, 120_000);
afterAll(async () => {
  await server.close();
});

describe.skipIf(process.platform !== 'linux')('shell.P6 a flood of output', () => {
  test('on both streams at once', async () => {
    const flood = `head -c ${FLOOD_MB}M /dev/zero`;
    await server.start(1, specOf(`head -c 8M /dev/zero; head -c 8M /dev/zero >&2`));
    await server.done(1);

    const before = await server.memory();
    await server.start(2, specOf(`${flood} & ${flood} >&2 & wait`));
    await server.done(2);
    const growth = (await server.memory()).peak - before.rss;
    console.log(`2 × ${FLOOD_MB} MB: ${(growth / MB).toFixed(1)} MB more at the peak`);
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  }, 600_000);

  test('live.D5 of a job that keeps its last output in a ring', async () => {
    await server.start(5, { ...specOf('head -c 8M /dev/zero'), ringBytes: MB });
    await server.done(5);
    const before = await server.memory();
    await server.start(6, { ...specOf('head -c 1000M /dev/zero'), ringBytes: MB });
    await server.done(6);
    const growth = (await server.memory()).peak - before.rss;
    console.log(`1000 MB into a ring: ${(growth / MB).toFixed(1)} MB more at the peak`);
    expect(growth).toBeLessThan(MAX_READ_GROWTH_BYTES);
  }, 600_000);

  test('of single bytes', async () => {
    const before = await server.memory();
    await server.start(4, specOf('i=0; while [ $i -lt 50000 ]; do printf x; i=$((i + 1)); done'));
    expect(await server.done(4)).toMatchObject({ exitCode: 0, stdoutBytes: 50_000, stdoutTruncated: false });
    expect((await server.memory()).peak - before.rss).toBeLessThan(MAX_GROWTH_BYTES);
  }, 60_000);
});

function specOf(script: string) {
  return { argv: ['sh', '-c', script], env: { PATH: process.env.PATH! }, maxOutputBytes: CAP_BYTES };
}

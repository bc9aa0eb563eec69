/** Jobs that say more than anyone keeps: the first bytes are kept, and the job runs to its own end. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rounds, withEnoughTime } from '#testing';
import { ChildrenServer } from './shell-orphans-server.ts';
import { survivorsOf, treeDigits } from './shell-orphans-tree.ts';

const MB = 1024 * 1024;
const CAP_BYTES = MB;
const FLOOD_MB = rounds(100, 300, 4000);

let server: ChildrenServer;
beforeAll(async () => {
  server = await ChildrenServer.start('best');
}, 120_000);
afterAll(async () => {
  await server.close();
});

describe.skipIf(process.platform !== 'linux')('a flood of output', () => {
  const both = { stdoutTruncated: true, stderrTruncated: true, stdoutBytes: CAP_BYTES, stderrBytes: CAP_BYTES };

  test('shell.P6 on both streams at once is cut at the cap', async () => {
    const flood = `head -c ${FLOOD_MB}M /dev/zero`;
    const spec = specOf(`${flood} & ${flood} >&2 & wait; exit 3`);
    await server.start(2, spec);
    expect(await server.done(2)).toEqual({ exitCode: 3, signal: null, timedOut: false, ...both });
  }, 600_000);

  test('from ten jobs at once is cut in each of them', async () => {
    const jobs = Array.from({ length: 10 }, (_, index) => 100 + index);
    for (const job of jobs) await server.start(job, specOf('head -c 20M /dev/zero; head -c 20M /dev/zero >&2'));
    expect(await Promise.all(jobs.map((job) => server.done(job)))).toEqual(
      jobs.map(() => ({ exitCode: 0, signal: null, timedOut: false, ...both })),
    );
  }, 120_000);

  test('that never ends is ended by its timeout, with all its processes', async () => {
    const digits = treeDigits();
    const flood = async (timeoutMs: number) => {
      await server.start(timeoutMs, { ...specOf(`: ${digits}; yes ${digits} & yes ${digits} >&2`), timeoutMs });
      return (await server.done(timeoutMs)) as typeof both;
    };
    const isCut = ({ stdoutTruncated, stderrTruncated }: typeof both) => stdoutTruncated && stderrTruncated;
    const outcome = await withEnoughTime([500, 4000, 20_000], flood, isCut);
    expect(outcome).toEqual({ exitCode: null, signal: 'SIGKILL', timedOut: true, ...both });
    expect(survivorsOf(digits)).toEqual([]);
  });
});

function specOf(script: string) {
  return { argv: ['sh', '-c', script], env: { PATH: process.env.PATH! }, maxOutputBytes: CAP_BYTES };
}

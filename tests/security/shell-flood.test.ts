/**
 * Jobs that say more than anyone keeps: the first bytes are kept, the job runs to its own end, and the memory of the
 * server does not grow with what it reads.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { buildChildren, ChildrenServer } from './shell-orphans-server.ts';
import { survivorsOf, treeDigits } from './shell-orphans-tree.ts';

const MB = 1024 * 1024;
const CAP_BYTES = MB;
const FLOOD_MB = process.env.WORKCELL_SOAK ? 4000 : 300;
/** A server that read it all itself would need more, for what it has not collected yet. */
const MAX_GROWTH_BYTES = 16 * MB;

let built: Awaited<ReturnType<typeof buildChildren>>;
let server: ChildrenServer;
beforeAll(async () => {
  built = await buildChildren();
  server = await ChildrenServer.start(built.folder, 'best');
}, 120_000);
afterAll(async () => {
  await server.close();
  await built[Symbol.asyncDispose]();
});

describe.skipIf(process.platform !== 'linux')('a flood of output', () => {
  const both = { stdoutTruncated: true, stderrTruncated: true, stdoutBytes: CAP_BYTES, stderrBytes: CAP_BYTES };

  test('on both streams at once is cut at the cap, and the memory stays', async () => {
    const flood = `head -c ${FLOOD_MB}M /dev/zero`;
    const spec = specOf(`${flood} & ${flood} >&2 & wait; exit 3`);
    await server.start(1, specOf(`head -c 8M /dev/zero; head -c 8M /dev/zero >&2`));
    await server.done(1);

    const before = await server.memory();
    await server.start(2, spec);
    expect(await server.done(2)).toEqual({ exitCode: 3, signal: null, timedOut: false, ...both });
    const growth = (await server.memory()).peak - before.rss;
    console.log(`2 × ${FLOOD_MB} MB: ${(growth / MB).toFixed(1)} MB more at the peak`);
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  }, 600_000);

  test('from ten jobs at once is cut in each of them', async () => {
    const jobs = Array.from({ length: 10 }, (_, index) => 100 + index);
    for (const job of jobs) await server.start(job, specOf('head -c 20M /dev/zero; head -c 20M /dev/zero >&2'));
    expect(await Promise.all(jobs.map((job) => server.done(job)))).toEqual(
      jobs.map(() => ({ exitCode: 0, signal: null, timedOut: false, ...both })),
    );
  }, 120_000);

  test('that never ends is ended by its timeout, with all who took part', async () => {
    const digits = treeDigits();
    await server.start(3, { ...specOf(`: ${digits}; yes ${digits} & yes ${digits} >&2`), timeoutMs: 1000 });
    expect(await server.done(3)).toEqual({ exitCode: null, signal: 'SIGKILL', timedOut: true, ...both });
    expect(survivorsOf(digits)).toEqual([]);
  });

  test('of single bytes costs no more memory than what is kept', async () => {
    const before = await server.memory();
    await server.start(4, specOf('i=0; while [ $i -lt 50000 ]; do printf x; i=$((i + 1)); done'));
    expect(await server.done(4)).toMatchObject({ exitCode: 0, stdoutBytes: 50_000, stdoutTruncated: false });
    expect((await server.memory()).peak - before.rss).toBeLessThan(MAX_GROWTH_BYTES);
  }, 60_000);
});

function specOf(script: string) {
  return { argv: ['sh', '-c', script], env: { PATH: process.env.PATH! }, maxOutputBytes: CAP_BYTES };
}

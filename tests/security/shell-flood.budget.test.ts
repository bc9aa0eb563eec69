/** The memory of the server does not grow with what jobs say. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { buildChildren, ChildrenServer } from './shell-orphans-server.ts';

const MB = 1024 * 1024;
const CAP_BYTES = MB;
const FLOOD_MB = rounds(300, 300, 4000);
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

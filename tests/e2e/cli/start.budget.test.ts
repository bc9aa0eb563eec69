/** How soon workcell start ends after a signal. */
import { Agent } from 'node:http';

import { expect, test } from 'vitest';

import { connect } from '#client';
import { startCli } from '../../../src/testing/cli.ts';
import { HALF_A_REQUEST, openSocket, UPGRADE, web } from '../support/web.ts';

test.each(['SIGTERM', 'SIGINT'] as const)('at once by %s, with callers connected', async (signal) => {
  await using cell = await startCli(['start', '--port', '0']);
  const bus = await connect(cell.url);
  const agent = new Agent({ keepAlive: true });
  await web(`${cell.http}/healthz`, { agent });
  const before = performance.now();
  expect(await cell.stop(signal)).toBe(0);
  expect(performance.now() - before).toBeLessThan(5_000);
  bus.close();
  agent.destroy();
});

test('no later than its goodbye to a client that neither reads nor answers', async () => {
  await using cell = await startCli(['start', '--port', '0']);
  const sockets = await Promise.all([openSocket(cell.port, UPGRADE), openSocket(cell.port, HALF_A_REQUEST)]);
  const before = performance.now();
  expect(await cell.stop()).toBe(0);
  expect(performance.now() - before).toBeLessThan(8_000);
  for (const socket of sockets) socket.destroy();
});

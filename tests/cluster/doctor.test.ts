/** The line of the doctor, from a real server. */
import { expect, test } from 'vitest';

import { ClusterSettingsSchema, makeUsers } from '#cluster';
import { tempDir } from '#testing';
import { checkCluster } from '../../src/cli/doctor/check-cluster.ts';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { startNode } from './support/nodes.ts';

test.skipIf(NO_NATS)('doctor says which server answers, which nodes are there, and what is refused', async () => {
  const { block, seeds } = await makeUsers('default', [
    { name: 'a', isDoor: true },
    { name: 'b', isDoor: false },
    { name: 'no-calls', isDoor: true },
    { name: 'no-answers', isDoor: true },
  ]);
  // As an operator writes permissions by hand, without one subject.
  const without = (subject: string, from: string) => {
    expect(from).toContain(`, "${subject}"`);
    return from.replace(`, "${subject}"`, '');
  };
  const extra = without('wc1.default.*.*.chan.no-answers.*', without('wc1.default.*.*.call.no-calls.*', block));
  await using dir = await tempDir(Object.fromEntries(seeds));
  await using nats = await NatsServers.start({ extra });
  await using a = await startNode(nats.urls, 'a', { nkeyFile: dir.path('a') });
  expect(a.cluster.isUp).toBe(true);
  const check = (node: string, key: string | undefined, more: object = {}) => {
    const nkeyFile = key === undefined ? {} : { nkeyFile: dir.path(key) };
    return checkCluster(ClusterSettingsSchema.parse({ servers: nats.urls, node, ...nkeyFile, ...more }));
  };
  const detail = async (...asked: Parameters<typeof check>) => (await check(...asked)).detail;
  expect(
    await Promise.all([
      detail('a', 'a'),
      detail('b', 'b'),
      detail('no-calls', 'no-calls'),
      detail('no-answers', 'no-answers'),
      detail('c', 'a'),
      detail('a', undefined),
      detail('a', 'a', { servers: ['nats://127.0.0.1:1'] }),
      detail('b', 'b', { roles: ['host'] }),
    ]),
  ).toEqual([
    expect.stringMatching(/^default at .*: 1 node heard, a is in it \(nats-server \d\S*, \d+\.\d ms\)$/),
    'the NATS user of this node may not hear other nodes, nor call other nodes',
    'the NATS user of this node may not call other nodes',
    'the NATS user of this node may not answer other nodes',
    expect.stringMatching(/^the NATS user of this node may not .*be node c/),
    expect.stringMatching(/^the NATS server refuses this node: .*authorization/i),
    'no NATS server answers at nats://127.0.0.1:1 (connection refused)',
    expect.stringMatching(/^default at .*: 0 nodes heard, b is free/),
  ]);
});

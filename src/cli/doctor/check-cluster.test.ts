import { expect, test } from 'vitest';

import type { ClusterProbe, ClusterSettings } from '#cluster';
import { ConfigError } from '#contract';
import { checkCluster } from './check-cluster.ts';

const SETTINGS = { servers: ['nats://h:4222'], node: 'a', cluster: 'prod' } as unknown as ClusterSettings;
const server = { url: 'h:4222', version: '2.9.10', roundTripMs: 0.42 };
const good: ClusterProbe = { server, refused: [], isNameTaken: false, nodes: [{ name: 'b', aheadMs: 40 }] };
const check = (found: ClusterProbe) => checkCluster(SETTINGS, async () => found);

test('without servers one line says that it is off', async () => {
  expect(await checkCluster(undefined)).toEqual({
    check: 'cluster',
    status: 'off',
    detail: 'this engine is by itself',
    fix: 'workcell start --cluster nats://HOST:4222',
  });
});

test.each([
  [good, 'ok', 'prod at h:4222: 1 node heard, a is free (nats-server 2.9.10, 0.4 ms)'],
  [
    { ...good, isNameTaken: true, nodes: [] },
    'ok',
    'prod at h:4222: 0 nodes heard, a is in it (nats-server 2.9.10, 0.4 ms)',
  ],
  [{ ...good, server: undefined }, 'warn', 'no NATS server answers at nats://h:4222'],
  [
    { ...good, refused: ['be node a', 'hear other nodes'] },
    'warn',
    'the NATS user of this node may not be node a, nor hear other nodes',
  ],
  [{ ...good, nodes: [{ name: 'b', aheadMs: -3_100 }] }, 'warn', 'the clock of b is 3.1 s behind this one'],
])('%o is judged %s', async (found, status, detail) => {
  expect(await check(found)).toMatchObject({ status, detail });
});

test('a refusal of the server is a warning with its message', async () => {
  const refuse = () => Promise.reject(new ConfigError('the NATS server refuses this node'));
  expect(await checkCluster(SETTINGS, refuse)).toMatchObject({
    status: 'warn',
    detail: 'the NATS server refuses this node',
  });
});

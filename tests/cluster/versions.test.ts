/** Nodes of other versions: another protocol is another cluster, and fields of a newer node are ignored. */
import { connect as dial, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { silentLog } from '#contract';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { startNode, type TestNode } from './support/nodes.ts';

const REPORT = {
  v: 1,
  every_ms: 1_000,
  conn: 1,
  joined_ms: 0,
  state: 'up',
  version: '9.0.0',
  roles: ['host'],
  aliases: [],
};

describe.skipIf(NO_NATS)('versions of nodes (needs nats-server)', () => {
  let nats: NatsServers;
  let a: TestNode;
  let other: NatsConnection;
  const warnings: object[] = [];
  beforeAll(async () => {
    nats = await NatsServers.start();
    const warn = (text: string, fields?: object) => void warnings.push({ text, ...fields });
    a = await startNode(nats.urls, 'a', {}, { log: { ...silentLog, warn } });
    other = await dial({ servers: nats.urls });
  });
  afterAll(async () => {
    await other?.close();
    await a?.[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
  });
  const names = () => a.cluster.nodes().map(({ name }) => name);
  const publish = (subject: string, value: object) => other.publish(subject, JSON.stringify(value));

  test('cluster.X24 nodes of another protocol are not seen; fields that a newer node adds are ignored', async () => {
    publish('wc2.default.all.beat.future.0000aaaa', { ...REPORT, v: 2 });
    publish('wc2.default.all.hello.future.0000aaaa', {});
    publish('wc1.default.all.beat.confused.0000aaab', { ...REPORT, v: 2 });
    publish('wc1.default.all.beat.newer.0000aaac', { ...REPORT, mood: { sun: [1, 2, 3] }, doors: { url: 'x' } });
    await expect.poll(names).toContain('newer');
    expect(names()).toEqual(['a', 'newer']);

    const heard = new Promise<object>((resolve) => {
      other.subscribe('wc1.default.newer.0000aaac.result.a.*', {
        callback: (_, message) => resolve(message.json()),
      });
    });
    const to = `wc1.default.a.${a.cluster.self.id}`;
    const frame = { type: 'invokefunction', invocation_id: 'n1', function_id: 'work::once', data: { key: 'newer' } };
    publish(`${to}.call.newer.0000aaac`, { ...frame, priority: 'high', deadline: { ms: 5 } });
    expect(await heard).toMatchObject({ invocation_id: 'n1', result: { key: 'newer', by: 'a' } });
    const asked = await other.request(`${to}.ask.newer.0000aaac`, JSON.stringify({ calls: ['n2'], since: 7 }));
    expect(asked.json()).toMatchObject({ unknown: ['n2'] });
    publish(`${to}.wish.newer.0000aaac`, { of: 'a kind that this version does not know' });
    await other.flush();
    expect(await a.bus.call('work::once', { key: 'still' })).toEqual({ key: 'still', by: 'a' });
  });

  test('a message that arrives after the goodbye of its node does not bring the node back', async () => {
    publish('wc1.default.all.beat.short.0000aaad', REPORT);
    await expect.poll(names).toContain('short');
    publish('wc1.default.all.leave.short.0000aaad', {});
    publish(`wc1.default.a.${a.cluster.self.id}.result.short.0000aaad`, {
      type: 'invocationresult',
      invocation_id: 'n',
    });
    publish('wc1.default.all.beat.short.0000aaad', REPORT);
    // Messages of one connection arrive in their order.
    publish('wc1.default.all.beat.next.0000aaae', REPORT);
    await expect.poll(names).toContain('next');
    expect(names()).not.toContain('short');
    const call = a.bus.call('work::once', { key: 'gone' }, { namespace: 'short' });
    await expect(call).rejects.toThrow('node short is not reachable (it left)');
  });

  test('cluster.X35 a report that cannot be read is logged once for each sender, with the reason', async () => {
    warnings.length = 0;
    const reports: [string, string][] = [
      ['later', JSON.stringify({ ...REPORT, v: 7 })],
      ['loud', JSON.stringify({ ...REPORT, every_ms: 5 })],
      ['wide', JSON.stringify({ ...REPORT, version: 'x'.repeat(9_000) })],
      ['odd', '{"v":1,'],
    ];
    for (const round of [1, 2, 3]) {
      for (const [name, report] of reports) other.publish(`wc1.default.all.beat.${name}.0000bbb${round}`, report);
    }
    publish('wc1.default.all.beat.last.0000bbbb', REPORT);
    await expect.poll(names).toContain('last');
    const text = 'a report of a node cannot be read; this node does not see it';
    expect(warnings).toEqual([
      { text, node: 'later', why: 'v: Invalid input: expected 1' },
      { text, node: 'loud', why: 'every_ms: Too small: expected number to be >=100' },
      { text, node: 'wide', why: expect.stringMatching(/^it has 9\d{3} bytes; the limit is 8192$/) },
      { text, node: 'odd', why: 'it is not JSON' },
    ]);
    expect(names().filter((name) => reports.some(([unread]) => unread === name))).toEqual([]);
  });
});

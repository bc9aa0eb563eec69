/** A hostile node that may speak: blocks that are bombs, and calls of functions that are not shared. */
import { createHash } from 'node:crypto';

import { connect as dial, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { NatsServers, NO_NATS } from '../../../src/testing/nats.ts';
import { addWorker, startNode, untilKnown, type TestNode } from '../../cluster/support/nodes.ts';

const MiB = 1024 * 1024;
const REPORT = { v: 1, every_ms: 1_000, conn: 1, joined_ms: 0, state: 'up', version: '', roles: ['host'], aliases: [] };

describe.skipIf(NO_NATS)('bombs and unshared functions (needs nats-server)', () => {
  let nats: NatsServers;
  let a: TestNode;
  let b: TestNode;
  let raw: NatsConnection;
  beforeAll(async () => {
    nats = await NatsServers.start();
    [a, b] = await Promise.all([startNode(nats.urls, 'a'), startNode(nats.urls, 'b', { share: [] })]);
    raw = await dial({ servers: nats.urls });
  });
  afterAll(async () => {
    await raw?.close();
    await Promise.all([a, b].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
  const functionsOf = (name: string) => a.cluster.nodes().find((row) => row.name === name)?.functions;

  /** Announces a catalogue of these blocks, and returns the requests that the node sends for it. */
  async function announce(name: string, id: string, list: string, blocks: readonly string[]): Promise<string[]> {
    const byHash = new Map([list, ...blocks].map((text) => [hashOf(text), text]));
    const asked: string[] = [];
    raw.subscribe(`wc1.default.${name}.${id}.*.a.*`, {
      callback: (_, message) => {
        const kind = message.subject.split('.')[4]!;
        asked.push(kind);
        if (kind === 'block') message.respond(byHash.get(message.json<{ hash: string }>().hash));
      },
    });
    await raw.flush();
    raw.publish(`wc1.default.all.beat.${name}.${id}`, JSON.stringify({ ...REPORT, catalogue: hashOf(list) }));
    return asked;
  }

  test('cluster.X16 a catalogue that grows beyond its limits is refused as a whole', async () => {
    const many = (prefix: string, count: number) =>
      JSON.stringify(Array.from({ length: count }, (_, at) => ({ id: `${prefix}::f${at}` })));
    const row = (block: string) => ({ scope: 'one', namespace: 'default', since_ms: 0, functions: hashOf(block) });
    const parts = ['x', 'y', 'z'].map((prefix) => many(prefix, 4_000));
    const wide = await announce('wide', '0000aaa1', JSON.stringify(parts.map(row)), parts);
    const same = many('again', 100);
    const repeated = await announce('again', '0000aaa2', JSON.stringify(Array(1_000).fill(row(same))), [same]);
    const announced = `\u0001{"key":"${'0'.repeat(32)}","bytes":${64 * MiB}}`;
    const fat = await announce('fat', '0000aaa3', announced, []);
    const small = many('fine', 3);
    await announce('fine', '0000aaa4', JSON.stringify([row(small)]), [small]);

    await expect.poll(() => functionsOf('fine')).toBe(3);
    await expect.poll(() => [wide.length >= 4, repeated.length >= 2, fat.length >= 1]).toEqual([true, true, true]);
    expect(fat).not.toContain('piece');
    expect(['wide', 'again', 'fat'].map(functionsOf)).toEqual([0, 0, 0]);
  });

  test('cluster.X17 a function that is not shared is not found, however it is called', async () => {
    await addWorker(b.engine, { 'inner::secret': () => 'secret' }, { scope: 'door' });
    await addWorker(b.engine, { 'inner::open': () => 'open' }, { scope: 'one' });
    await untilKnown(a, 'b');
    const results = new Map<string, { result?: unknown; error?: { code: string } }>();
    raw.subscribe('wc1.default.evil.0000aaa5.result.b.*', {
      callback: (_, message) => {
        const frame = message.json<{ invocation_id: string; result?: unknown; error?: { code: string } }>();
        results.set(frame.invocation_id, frame);
      },
    });
    const to = `wc1.default.b.${b.cluster.self.id}.call.evil.0000aaa5`;
    const ids = ['work::once', 'inner::secret', 'engine::workers::list', 'engine::functions::list', 'inner::open'];
    const namespaces = [undefined, 'default', 'b', 'b/default'];
    const calls = ids.flatMap((id) => namespaces.map((namespace) => ({ id, namespace })));
    for (const [at, { id, namespace }] of calls.entries()) {
      const frame = { type: 'invokefunction', invocation_id: `c${at}`, function_id: id, namespace, data: { key: 'x' } };
      raw.publish(to, JSON.stringify(frame));
    }
    await expect.poll(() => results.size).toBe(calls.length);
    const answers = calls.map(({ id }, at) => [id, results.get(`c${at}`)!.error?.code ?? 'ran']);
    expect(answers).toEqual(calls.map(({ id }) => [id, id === 'inner::open' ? 'ran' : 'function_not_found']));
    expect(b.ran.size).toBe(0);
  });
});

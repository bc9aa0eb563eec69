/** The functions of all nodes as one list: how it grows and shrinks, its rows, and which of two claims serves. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

import { silentLog } from '#contract';
import type { Link } from '#protocol';
import { rounds } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { addWorker, startNode, untilKnown, type TestNode } from './support/nodes.ts';

const NODES = rounds(3, 10, 10);
const FUNCTIONS = rounds(100, 1_000, 1_000);

interface Row {
  function_id: string;
  namespace: string;
  description?: string;
  metadata?: object;
}

async function listed({ bus }: TestNode, asked: { prefix: string; namespace?: string }): Promise<Row[]> {
  const { functions } = (await bus.call('engine::functions::list', asked)) as { functions: Row[] };
  return functions.filter(({ function_id }) => function_id.startsWith(asked.prefix));
}
const codeOf = (error: unknown) => (error as { code: string }).code;
const idsOf = async (...asked: Parameters<typeof listed>) =>
  (await listed(...asked)).map(({ function_id }) => function_id).toSorted();

describe.skipIf(NO_NATS)('the functions of a cluster (needs nats-server)', () => {
  let nats: NatsServers;
  const nodes: TestNode[] = [];
  const workers: Link[] = [];
  beforeAll(async () => {
    nats = await NatsServers.start();
    const names = Array.from({ length: NODES }, (_, at) => `n${at}`);
    nodes.push(...(await Promise.all(names.map((name) => startNode(nats.urls, name, { aliases: [`alias-${name}`] })))));
    await Promise.all(
      nodes.map((node) => untilKnown(node, ...names.filter((name) => name !== node.cluster.self.name))),
    );
  });
  afterEach(() => {
    for (const worker of workers.splice(0)) worker.close();
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  const serve = async (node: TestNode, ...served: Tail<Parameters<typeof addWorker>>) => {
    const worker = await addWorker(node.engine, ...served);
    workers.push(worker);
    return worker;
  };
  /** Names of many functions of one worker, by node. */
  const idsAt = (at: number) => Array.from({ length: FUNCTIONS }, (_, number) => `many::n${at}-f${number}`);
  const handlers = (ids: string[], answer: string) => Object.fromEntries(ids.map((id) => [id, () => answer]));

  test('cluster.P25 every node lists the functions of all, also one that joins later; they go with their worker and their node', async () => {
    const made = await Promise.all(nodes.map((node, at) => serve(node, handlers(idsAt(at), `n${at}`))));
    const all = nodes.flatMap((_, at) => idsAt(at)).toSorted();
    const counts = (asked: TestNode[]) =>
      Promise.all(asked.map(async (node) => (await listed(node, { prefix: 'many::' })).length));
    await expect.poll(() => counts(nodes)).toEqual(nodes.map(() => all.length));

    await using late = await startNode(nats.urls, 'late');
    await serve(late, { 'many::late': () => 'late' });
    await expect.poll(() => counts([late, ...nodes])).toEqual([late, ...nodes].map(() => all.length + 1));
    expect(await idsOf(late, { prefix: 'many::' })).toEqual(['many::late', ...all].toSorted());
    expect(await late.bus.call(idsAt(1).at(-1)!)).toBe('n1');
    expect(await nodes[0]!.bus.call('many::late')).toBe('late');

    made[1]!.close();
    const left = all.filter((id) => !idsAt(1).includes(id));
    await expect.poll(() => counts([late, ...nodes])).toEqual([late, ...nodes].map(() => left.length + 1));
    await expect(late.bus.call(idsAt(1)[0]!)).rejects.toMatchObject({ code: 'function_not_found' });
    await late[Symbol.asyncDispose]();
    await expect.poll(() => counts(nodes)).toEqual(nodes.map(() => left.length));
    expect(await idsOf(nodes[1]!, { prefix: 'many::' })).toEqual(left);
  });

  test('cluster.P32 a node with more than others read announces what fits, and logs how many it omits', async () => {
    const warnings: object[] = [];
    const log = { ...silentLog, warn: (_: string, fields?: object) => void warnings.push(fields ?? {}) };
    await using big = await startNode(nats.urls, 'big', {}, { log });
    const large = { description: 'x'.repeat(1_000_000), metadata: { workcell: { scope: 'one' } } };
    const worker = await serve(big, { 'big::first': () => 'big' });
    for (let at = 0; at < 9; at++) worker.send({ type: 'registerfunction', id: `big::f${at}`, ...large });
    const omitted = () => warnings.filter((fields) => 'most_bytes' in fields);
    const once = [{ functions: 1, most: 10_000, most_bytes: 8 * 1024 * 1024 }];
    await expect.poll(omitted).toMatchObject(once);
    await expect.poll(() => idsOf(nodes[0]!, { prefix: 'big::' })).toContain('big::f7');
    expect(await idsOf(nodes[0]!, { prefix: 'big::' })).not.toContain('big::f8');
    expect(await nodes[0]!.bus.call('big::first')).toBe('big');
    expect(omitted()).toMatchObject(once);
  });

  test('cluster.P26 a list without a namespace has what is called by its id, one of a node what that node shares', async () => {
    const [a, b] = nodes as [TestNode, TestNode];
    for (const scope of ['one', 'any', 'host', 'door']) await serve(b, { [`scope::${scope}`]: () => scope }, { scope });
    // The test nodes share the worker `work`.
    await serve(b, { 'work::more': () => 'more' }, { scope: 'host' });
    await expect.poll(() => idsOf(a, { prefix: 'scope::' })).toEqual(['scope::any', 'scope::one']);
    for (const namespace of ['n1', 'alias-n1']) {
      expect(await idsOf(a, { prefix: 'work::more', namespace })).toEqual(['work::more']);
      const ids = await idsOf(a, { prefix: 'scope::', namespace });
      expect(ids.filter((id) => !['scope::any', 'scope::one'].includes(id))).toEqual([]);
    }
    for (const namespace of ['n1', 'alias-n1']) {
      expect(await idsOf(b, { prefix: 'work::more', namespace })).toEqual(['work::more']);
      expect(await idsOf(b, { prefix: 'scope::', namespace })).toEqual(['scope::any', 'scope::host', 'scope::one']);
    }
    expect(await idsOf(a, { prefix: 'work::more' })).toEqual([]);
    expect(await idsOf(b, { prefix: 'scope::' })).toEqual(['scope::any', 'scope::door', 'scope::host', 'scope::one']);
    const outcomes = ['one', 'any', 'host', 'door'].map((scope) =>
      a.bus.call(`scope::${scope}`, {}, { namespace: 'n1' }).catch(codeOf),
    );
    expect(await Promise.all(outcomes)).toEqual(['one', 'any', 'function_not_found', 'function_not_found']);
    const [row] = await listed(a, { prefix: 'scope::one' });
    expect(row).toMatchObject({ namespace: 'default', metadata: { workcell: { scope: 'one' } } });
  });
});

describe.skipIf(NO_NATS)('claims at the same moment (needs nats-server)', () => {
  test.each(['low', 'high'] as const)(
    'cluster.X29 of two claims of the same millisecond that of the lower id serves on every node; the first was %s',
    async (first) => {
      await using nats = await NatsServers.start();
      await using low = await startNode(nats.urls, 'low', {}, { id: '00000001' });
      await using high = await startNode(nats.urls, 'high', {}, { id: 'fffffffe' });
      await using seer = await startNode(nats.urls, 'seer', {}, { id: '80000000' });
      await Promise.all([untilKnown(low, 'high'), untilKnown(high, 'low'), untilKnown(seer, 'low', 'high')]);
      const claim = ({ engine, cluster }: TestNode) => addWorker(engine, { 'tie::f': () => cluster.self.name });
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
      const order = first === 'low' ? [low, high] : [high, low];
      const made = await Promise.all(order.map(claim)).finally(() => clock.mockRestore());

      const answers = () => Promise.all([low, high, seer].map(({ bus }) => bus.call('tie::f').catch(codeOf)));
      await expect.poll(answers).toEqual(['low', 'low', 'low']);
      const isListed = async () => (await listed(seer, { prefix: 'tie::', namespace: 'high' })).length;
      await expect.poll(isListed).toBeGreaterThan(0);
      expect(await answers()).toEqual(['low', 'low', 'low']);
      made[order.indexOf(low)]!.close();
      await expect.poll(answers).toEqual(['high', 'high', 'high']);
    },
  );
});

type Tail<List extends unknown[]> = List extends [unknown, ...infer Rest] ? Rest : never;

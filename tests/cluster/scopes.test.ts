/** Where a call goes that several nodes could serve: scope `any`, equal aliases, namespaces within a node, wrong clocks. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { rounds } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { NodeProcess } from './support/node-process.ts';
import { addWorker, startNode, untilKnown, type TestNode } from './support/nodes.ts';

const messageOf = (error: unknown) => (error as Error).message;
const CALLS = rounds(400, 2_000, 20_000);
const HOUR_MS = 3_600_000;

describe.skipIf(NO_NATS)('calls that several nodes could serve (needs nats-server)', () => {
  let nats: NatsServers;
  let a: TestNode;
  let b: TestNode;
  let c: TestNode;
  beforeAll(async () => {
    nats = await NatsServers.start();
    [a, b, c] = (await Promise.all(['a', 'b', 'c'].map((name) => startNode(nats.urls, name)))) as [
      TestNode,
      TestNode,
      TestNode,
    ];
    await Promise.all([untilKnown(a, 'b', 'c'), untilKnown(b, 'a', 'c'), untilKnown(c, 'a', 'b')]);
  });
  afterAll(async () => {
    await Promise.all([a, b, c].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  const ask = ({ bus }: TestNode, id: string, data?: unknown) => bus.call(id, data).catch(messageOf);

  test('cluster.P36 of scope any the own node serves first, and of two others mostly the less busy', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    onTestFinished(() => release());
    const serve = ({ engine, cluster: { self } }: TestNode) => {
      const wait = async ({ waits = false }: { waits?: boolean }) => {
        if (waits) await released;
        return self.name;
      };
      return addWorker(engine, { 'any::who': wait }, { scope: 'any' });
    };
    await Promise.all([a, b].map(serve));
    const isListed = async () => {
      const { functions } = (await c.bus.call('engine::functions::list', { prefix: 'any::who' })) as {
        functions: object[];
      };
      const seen = new Set(await Promise.all(Array.from({ length: 20 }, () => ask(c, 'any::who', {}))));
      return [functions.length, [...seen].map(String).toSorted().join()];
    };
    await expect.poll(isListed).toEqual([1, 'a,b']);
    for (const node of [a, b]) {
      const own = await Promise.all(Array.from({ length: 20 }, () => ask(node, 'any::who', {})));
      expect(new Set(own)).toEqual(new Set([node.cluster.self.name]));
    }

    const busy = c.bus.call('any::who', { waits: true });
    const counts = { a: 0, b: 0 };
    for (let call = 0; call < CALLS; call++) counts[(await ask(c, 'any::who', {})) as 'a' | 'b']++;
    release();
    const busyOne = (await busy) as 'a' | 'b';
    // It gets a call when it is drawn twice, in a quarter of all; without a choice it would be half.
    expect(counts[busyOne] / CALLS).toBeLessThan(0.375);
    expect(counts[busyOne]).toBeGreaterThan(0);
  });

  test('cluster.P37 of two nodes with one alias the older serves, and the younger when that one is gone', async () => {
    await using younger = await startNode(nats.urls, 'younger', { aliases: ['twin'] });
    await untilKnown(c, 'younger');
    expect(await c.bus.call('work::once', { key: 't0' }, { namespace: 'twin' })).toEqual({ key: 't0', by: 'younger' });
    // Heard later, and older by its own report.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - HOUR_MS);
    await using older = await startNode(nats.urls, 'older', { aliases: ['twin'] }).finally(() => clock.mockRestore());
    await Promise.all([a, b, c].map((node) => untilKnown(node, 'older', 'younger')));
    for (const { bus } of [a, b, c])
      expect(await bus.call('work::once', { key: 't1' }, { namespace: 'twin' })).toEqual({ key: 't1', by: 'older' });
    const { nodes } = (await c.bus.call('engine::nodes::list')) as { nodes: { name: string; aliases: string[] }[] };
    expect(nodes.filter(({ aliases }) => aliases.includes('twin')).map(({ name }) => name)).toEqual([
      'older',
      'younger',
    ]);
    await older[Symbol.asyncDispose]();
    const again = () => c.bus.call('work::once', { key: 't2' }, { namespace: 'twin' }).catch(String);
    await expect.poll(again).toEqual({ key: 't2', by: 'younger' });
    expect(younger.ran).toEqual(
      new Map([
        ['t0', 1],
        ['t2', 1],
      ]),
    );
  });

  test('cluster.P38 a namespace within a node is called as node/namespace', async () => {
    await addWorker(b.engine, { 'work::where': () => 'inner' }, { scope: 'host', namespace: 'inner' });
    await addWorker(b.engine, { 'work::where': () => 'default' }, { scope: 'host' });
    const where = (namespace: string) => a.bus.call('work::where', {}, { namespace }).catch(messageOf);
    await expect
      .poll(() => Promise.all(['b', 'b/default', 'b/inner'].map(where)))
      .toEqual(['default', 'default', 'inner']);
    expect(await where('b/other')).toContain('not found in namespace b/other');
    expect(await b.bus.call('work::where', {}, { namespace: 'b/inner' })).toBe('inner');
    const listed = () => a.bus.call('engine::functions::list', { namespace: 'b/inner' });
    await expect.poll(listed).toMatchObject({ functions: [{ function_id: 'work::where', namespace: 'b/inner' }] });
  });

  test('cluster.P39 the functions of a node that joins and leaves fire engine::functions-available', async () => {
    const seen: string[][] = [];
    const take = ({ functions }: { functions: { function_id: string }[] }) =>
      void seen.push(functions.map(({ function_id: id }) => id).filter((id) => id.startsWith('late::')));
    await addWorker(a.engine, { 'seen::functions': take }, { scope: 'host' });
    await a.bus.call('engine::register_trigger', {
      ...{ trigger_type: 'engine::functions-available', function_id: 'seen::functions' },
    });
    await using late = await startNode(nats.urls, 'late');
    await addWorker(late.engine, { 'late::one': () => 1 });
    await addWorker(late.engine, { 'late::own': () => 1 }, { scope: 'host' });
    await expect.poll(() => seen.at(-1)).toEqual(['late::one']);
    await late[Symbol.asyncDispose]();
    await expect.poll(() => seen.at(-1)).toEqual([]);
  });

  test('cluster.X38 with the clock of a node an hour ahead every node takes the same claim, and calls continue', async () => {
    await using ahead = await NodeProcess.start('ahead', nats.urls, { clockMs: HOUR_MS });
    await Promise.all([untilKnown(a, 'ahead'), untilKnown(c, 'ahead')]);
    await ahead.ask('serve', { ids: ['skew::f'] });
    const data = { key: 'k', ms: 0 };
    const from = ({ bus }: TestNode) =>
      bus.call('skew::f', data).then((result) => (result as { by: string }).by, String);
    const answers = async () => {
      const far = await ahead.ask<{ result?: { by: string } }>('call', { id: 'skew::f', data });
      return [...(await Promise.all([a, b, c].map(from))), far.result?.by];
    };
    await expect.poll(answers).toEqual(['ahead', 'ahead', 'ahead', 'ahead']);
    const worker = await addWorker(b.engine, { 'skew::f': () => ({ by: 'b' }) });
    // It came later, and counts as the older by an hour.
    await expect.poll(answers).toEqual(['b', 'b', 'b', 'b']);
    worker.close();
    await expect.poll(answers).toEqual(['ahead', 'ahead', 'ahead', 'ahead']);
  });
});

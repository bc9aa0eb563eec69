/** Results that are made while their node is not connected to NATS: delivered after it is back, or answered for. */
import { describe, test, type ExpectStatic } from 'vitest';

import type { Frame } from '#protocol';
import { isFull, rounds, withEnoughTime } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { CutNetwork } from './support/cut.ts';
import { addWorker, startNode, untilKnown, type TestNode } from './support/nodes.ts';

const COUNT = rounds(20, 200, 2_000);
/** Above the size of one message: the result is announced, and fetched in pieces. */
const LARGE = 'x'.repeat(600_000);

type Result = Extract<Frame, { type: 'invocationresult' }>;

/** Calls by frames, with every answer that comes, so that a second one to the same call is seen. */
async function frameCaller({ engine }: TestNode) {
  const link = await engine.dialer().dial();
  const answers: Result[] = [];
  link.attach({ frame: (frame) => void (frame.type === 'invocationresult' && answers.push(frame)), closed() {} });
  const call = (id: string, more: Record<string, unknown> = {}) =>
    link.send({
      ...{ type: 'invokefunction', invocation_id: id, function_id: 'gate::pass', namespace: 'b' },
      data: { key: id, ...more },
    });
  const codes = () =>
    Object.fromEntries(answers.map(({ invocation_id, error }) => [invocation_id, (error as { code?: string }).code]));
  return { call, answers, codes };
}

/** Two nodes, of which `b` is behind a network that is cut, and finishes its calls when `open` is called. */
async function twoNodes(expect: ExpectStatic) {
  const nats = await NatsServers.start();
  const network = await CutNetwork.before(nats.urls[0]!);
  const a = await startNode(nats.urls, 'a');
  const b = await startNode([network.url], 'b', { share: ['work', 'gate'] });
  const ran: string[] = [];
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const pass = async ({ key, isLarge = false }: { key: string; isLarge?: boolean }) => {
    ran.push(key);
    await opened;
    return { key, text: isLarge ? LARGE : '' };
  };
  await addWorker(b.engine, { 'gate::pass': pass }, { scope: 'host' });
  await untilKnown(a, 'b');
  const isListed = async () => {
    const { functions } = (await a.bus.call('engine::functions::list', { namespace: 'b' })) as { functions: object[] };
    return JSON.stringify(functions).includes('gate::pass');
  };
  await expect.poll(isListed).toBe(true);
  return {
    ...{ a, b, network, ran, open },
    async [Symbol.asyncDispose]() {
      for (const part of [a, b, network, nats]) await part[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(NO_NATS).concurrent('results of a node that is not connected (needs nats-server)', () => {
  test('cluster.X28 they are delivered once when it is back, small and large, and no call runs again', async ({
    expect,
  }) => {
    await using nodes = await twoNodes(expect);
    const { a, b, network, ran } = nodes;
    const { call, answers } = await frameCaller(a);
    const keys = Array.from({ length: COUNT }, (_, at) => `c${at}`);
    for (const key of keys) call(key);
    call('large', { isLarge: true });
    await expect.poll(() => ran.length).toBe(COUNT + 1);
    network.hangUp();
    await expect.poll(() => b.cluster.isUp).toBe(false);
    nodes.open();
    await expect.poll(() => b.cluster.nodes().find(({ name }) => name === 'a')?.calls_in).toBe(0);
    expect([b.cluster.isUp, answers]).toEqual([false, []]);
    // No call runs, but one result was not fetched.
    expect(b.cluster.unanswered).toBe(1);
    network.heal();
    await expect.poll(() => answers.length, { interval: 10 }).toBe(COUNT + 1);
    await expect.poll(() => b.cluster.unanswered).toBe(0);
    // After this one nothing of the others is on its way any more.
    await a.bus.call('work::once', { key: 'next' }, { namespace: 'b' });
    const byKey = new Map(answers.map(({ invocation_id, result }) => [invocation_id, result]));
    expect(byKey).toEqual(new Map([...keys, 'large'].map((key) => [key, { key, text: key === 'large' ? LARGE : '' }])));
    expect(answers).toHaveLength(COUNT + 1);
    expect(ran.toSorted()).toEqual([...keys, 'large'].toSorted());
  });

  test('cluster.X28 a caller whose deadline passes meanwhile gets its timeout, and the late result is dropped', async ({
    expect,
  }) => {
    const attempt = async (timeoutMs: number) => {
      await using nodes = await twoNodes(expect);
      const { a, b, network, ran } = nodes;
      let ended: string | undefined;
      const answer = a.bus.call('gate::pass', { key: 'late' }, { namespace: 'b', timeoutMs }).then(
        () => (ended = 'a result'),
        (error: unknown) => (ended = (error as { code: string }).code),
      );
      await expect.poll(() => ran.length === 1 || ended !== undefined).toBe(true);
      network.hangUp();
      await expect.poll(() => b.cluster.isUp).toBe(false);
      const wasCutInTime = ended === undefined;
      const code = await answer;
      nodes.open();
      network.heal();
      await expect.poll(() => b.cluster.isUp).toBe(true);
      await untilKnown(a, 'b');
      const next = await a.bus.call('work::once', { key: 'next' }, { namespace: 'b' });
      return { wasCutInTime, code, ran, next };
    };
    // Below the lease, after which the call would end as stopped.
    const outcome = await withEnoughTime([1_500, 4_000, 6_000], attempt, ({ wasCutInTime }) => wasCutInTime);
    expect(outcome).toEqual({
      wasCutInTime: true,
      code: 'TIMEOUT',
      ran: ['late'],
      next: { key: 'next', by: 'b' },
    });
  });

  test.runIf(isFull)(
    'cluster.X28 beyond its lease the calls end as stopped, once, and late results are dropped',
    async ({ expect }) => {
      await using nodes = await twoNodes(expect);
      const { a, b, network, ran } = nodes;
      const { call, answers, codes } = await frameCaller(a);
      const keys = Array.from({ length: COUNT }, (_, at) => `s${at}`);
      for (const key of keys) call(key);
      await expect.poll(() => ran.length).toBe(COUNT);
      network.hangUp();
      await expect.poll(() => answers.length).toBe(COUNT);
      expect(codes()).toEqual(Object.fromEntries(keys.map((key) => [key, 'invocation_stopped'])));
      nodes.open();
      network.heal();
      await untilKnown(a, 'b');
      expect(await a.bus.call('work::once', { key: 'next' }, { namespace: 'b' })).toEqual({ key: 'next', by: 'b' });
      expect([answers.length, ran.length, b.ran.size]).toEqual([COUNT, COUNT, 1]);
    },
  );
});

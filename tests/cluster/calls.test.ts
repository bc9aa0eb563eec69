/** Calls between nodes over a real NATS server: results, failures, cancel, events, sizes, names and rights. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { CallError, makePrincipal } from '#contract';
import { isFull } from '#testing';
import { NatsServers, NO_NATS } from '../../src/testing/nats.ts';
import { addWorker, startNode, untilKnown, type TestNode } from './support/nodes.ts';

const MiB = 1024 * 1024;

describe.skipIf(NO_NATS)('calls between nodes (needs nats-server)', () => {
  let nats: NatsServers;
  let a: TestNode;
  let b: TestNode;
  let c: TestNode;

  beforeAll(async () => {
    nats = await NatsServers.start();
    [a, b, c] = await Promise.all([
      startNode(nats.urls, 'a'),
      startNode(nats.urls, 'b', { aliases: ['projectx'] }),
      startNode(nats.urls, 'c', { share: [] }),
    ]);
    await Promise.all([untilKnown(a, 'b'), untilKnown(b, 'a'), untilKnown(c, 'a', 'b')]);
  });

  afterAll(async () => {
    await Promise.all([a, b, c].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error as CallError,
    );

  test('a namespace addresses a node, by its name and by its alias, also from the node itself', async () => {
    expect(await a.bus.call('work::once', { key: 'n1' }, { namespace: 'b' })).toEqual({ key: 'n1', by: 'b' });
    expect(await a.bus.call('work::once', { key: 'n2' }, { namespace: 'projectx' })).toEqual({ key: 'n2', by: 'b' });
    expect(await b.bus.call('work::once', { key: 'n3' }, { namespace: 'b' })).toEqual({ key: 'n3', by: 'b' });
    expect(await a.bus.call('work::once', { key: 'n4' })).toEqual({ key: 'n4', by: 'a' });
    expect(b.ran).toMatchObject(
      new Map([
        ['n1', 1],
        ['n2', 1],
        ['n3', 1],
      ]),
    );
  });

  test('failures arrive as they were made, and a missing function names the nodes that have it', async () => {
    expect(await failure(a.bus.call('work::fail', {}, { namespace: 'b' }))).toMatchObject({
      code: 'X1',
      message: 'no',
    });
    expect(await failure(a.bus.call('work::none', {}, { namespace: 'b' }))).toMatchObject({
      code: 'function_not_found',
    });
    expect(await failure(a.bus.call('work::once', {}, { namespace: 'nowhere' }))).toMatchObject({
      code: 'function_not_found',
      message: expect.stringMatching(/registered in namespace\(s\): .*\bb\b/),
    });
  });

  test('what is not shared is not found', async () => {
    // The same words for a function that is there and for one that is not.
    for (const id of ['work::once', 'work::oncee']) {
      expect(await failure(a.bus.call(id, { key: 'x' }, { namespace: 'c' }))).toMatchObject({
        code: 'function_not_found',
        message: `Function ${id} not found in namespace c. A node answers others only for what it shares: --share work, if it has this function.`,
      });
    }
    expect(await failure(a.bus.call('engine::workers::list', {}, { namespace: 'b' }))).toMatchObject({
      code: 'function_not_found',
    });
    expect(c.ran.size).toBe(0);
  });

  test('a cancelled call is cancelled where it runs; one that waits still gets its answer', async () => {
    const controller = new AbortController();
    const call = failure(
      a.bus.call('work::once', { key: 'c1', ms: 400 }, { namespace: 'b', signal: controller.signal }),
    );
    await expect.poll(() => b.ran.get('c1')).toBe(1);
    controller.abort();
    expect(await call).toMatchObject({ code: 'CANCELLED' });
    await expect.poll(() => b.cancelled.length).toBe(1);

    const cancel = new AbortController();
    const waiting = a.bus.call('work::once', { key: 'c2', ms: 400 }, { namespace: 'b', cancel: cancel.signal });
    await expect.poll(() => b.ran.get('c2')).toBe(1);
    cancel.abort();
    expect(await waiting).toEqual({ key: 'c2', by: 'b' });
    expect(b.cancelled).toHaveLength(2);
  });

  test('events cross nodes, in order, before the result', async () => {
    const events: unknown[] = [];
    const result = await a.bus.call('work::talk', {}, { namespace: 'b', onEvent: (event) => events.push(event) });
    expect([result, events]).toEqual(['done', [1, 2, 3].map((seq) => ({ type: 'said', seq }))]);
  });

  test('the node of the function authorizes, with the principal that the caller’s node vouches for', async () => {
    const caller = makePrincipal('token', 'alice', { only: ['work::echo'] });
    expect(await a.bus.call('work::echo', 1, { namespace: 'b', caller })).toBe(1);
    expect(await failure(a.bus.call('work::once', { key: 'r1' }, { namespace: 'b', caller }))).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('alice at a may call only work::echo'),
    });
    const reader = makePrincipal('token', 'bob', { isReadOnly: true });
    expect(await failure(a.bus.call('work::once', { key: 'r1' }, { namespace: 'b', caller: reader }))).toMatchObject({
      code: 'forbidden',
    });
    expect(b.ran.has('r1')).toBe(false);
    await a.bus.call('work::once', { key: 'r2' }, { namespace: 'b', caller: makePrincipal('token', 'carol') });
    expect(b.callers.at(-1)).toMatchObject({ id: 'token:carol@a', kind: 'token', label: 'carol at a' });
  });

  test('bodies of any size arrive whole, and one above the limit is refused', async () => {
    // The limit of 64 MiB is that of the frame.
    for (const bytes of [1, 100_000, 131_072, 600_000, 5 * MiB, isFull ? 64 * MiB - 1_000 : 32 * MiB]) {
      const text = `${bytes}${'x'.repeat(bytes)}`;
      expect((await a.bus.call('work::echo', { text }, { namespace: 'b' })) as object).toEqual({ text });
    }
    const large = { text: 'x'.repeat(65 * MiB) };
    expect(await failure(a.bus.call('work::echo', large, { namespace: 'b' }))).toMatchObject({
      code: 'payload_too_large',
    });
  });

  test('cluster.P42 a call without an answer runs on the node that it names, once', async () => {
    const link = await a.engine.dialer().dial();
    const frames: object[] = [];
    link.attach({
      frame: (frame) => void (frame.type === 'invocationresult' && frames.push(frame)),
      closed: () => {},
    });
    const call = { type: 'invokefunction', function_id: 'work::once', namespace: 'b', data: { key: 'v1' } } as const;
    link.send({ ...call, action: { type: 'void' } });
    await expect.poll(() => b.ran.get('v1')).toBe(1);
    // A call that is sent later is answered later.
    link.send({ ...call, invocation_id: 'v2', data: { key: 'v2' } });
    await expect.poll(() => frames).toMatchObject([{ invocation_id: 'v2', result: { key: 'v2', by: 'b' } }]);
    expect([a.ran.has('v1'), b.ran.get('v1')]).toEqual([false, 1]);
  });

  test('of scope one the oldest claim serves, from every node, and a later one gets a message; when it leaves, the next', async () => {
    const first = await addWorker(a.engine, { 'shared::one': () => 'a' });
    await expect.poll(() => b.bus.call('shared::one').catch(() => 'none')).toBe('a');
    const refused: string[] = [];
    await addWorker(b.engine, { 'shared::one': () => 'b' }, { onRefused: (id) => void refused.push(id) });
    await expect.poll(() => refused).toEqual(['shared::one']);
    const callers = [a, b, c];
    const answers = () =>
      Promise.all(
        callers.map(({ bus }) =>
          failure(bus.call('shared::one')).then(() => bus.call('shared::one').catch(() => 'none')),
        ),
      );
    await expect.poll(answers).toEqual(['a', 'a', 'a']);
    first.close();
    await expect.poll(answers).toEqual(['b', 'b', 'b']);
    const { functions } = (await c.bus.call('engine::functions::list', { prefix: 'shared::' })) as {
      functions: object[];
    };
    expect(functions).toMatchObject([{ function_id: 'shared::one', namespace: 'default', worker_name: 'shared' }]);
  });

  test('the list of a node’s functions is requested by its name; workers of others are in no list', async () => {
    const { functions } = (await a.bus.call('engine::functions::list', { namespace: 'b' })) as {
      functions: { function_id: string }[];
    };
    expect(functions.map(({ function_id }) => function_id).filter((id) => id.startsWith('work::'))).toHaveLength(4);
    const { workers } = (await a.bus.call('engine::workers::list')) as { workers: { name: string }[] };
    expect(workers.map(({ name }) => name).filter((name) => ['b', 'c'].includes(name))).toEqual([]);
    const { nodes } = (await a.bus.call('engine::nodes::list')) as { nodes: { name: string; state: string }[] };
    expect(nodes.map(({ name, state }) => `${name} ${state}`)).toEqual(['a up', 'b up', 'c up']);
  });

  test('a node that leaves ends its calls at once; later ones hear that it is not reachable', async () => {
    const d = await startNode(nats.urls, 'd');
    await untilKnown(a, 'd');
    const running = failure(a.bus.call('work::once', { key: 'd1', ms: 60_000 }, { namespace: 'd' }));
    await expect.poll(() => d.ran.get('d1')).toBe(1);
    await d[Symbol.asyncDispose]();
    expect(await running).toMatchObject({ code: 'invocation_stopped' });
    expect(await failure(a.bus.call('work::once', { key: 'd2' }, { namespace: 'd' }))).toMatchObject({
      code: 'channel_send_failed',
      message: 'work::once could not be called: node d is not reachable (it left)',
    });
  });
});

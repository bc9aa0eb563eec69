/** Reconnects: after an engine restart, and after a network that failed on one side. */
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { connectSdk, versions, type SdkClient } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';
import { startProxy } from './support/tcp-proxy.ts';
import { within } from './support/waiting.ts';

test.each(versions)(
  'bus.P5 %s: after an engine restart everything is registered again and queued calls arrive',
  async (version) => {
    const first = await startEngine();
    const { port } = first.server;
    await using worker = connectSdk(version, first.url, { workerName: 'persistent' });
    await using caller = connectSdk(version, first.url);
    worker.registerFunction('persistent::echo', async (input: unknown) => ({ input }));
    await worker.settled();
    const call = (n: number) => caller.trigger({ function_id: 'persistent::echo', payload: { n } });
    expect(await call(1)).toEqual({ input: { n: 1 } });

    await first[Symbol.asyncDispose]();
    const queued = worker.trigger({ function_id: 'persistent::echo', payload: { n: 2 } });
    await using second = await startEngine({ port });
    expect(second.url).toBe(first.url);

    expect(await queued).toEqual({ input: { n: 2 } });
    await worker.settled();
    expect(await call(3)).toEqual({ input: { n: 3 } });
    expect((await workersNamed(worker, 'persistent')).length).toBe(1);
  },
);

test('bus.P5 0.22.1: cut off on its own side only, a worker takes its old session back when it returns', async () => {
  await using engine = await startEngine();
  await using proxy = await startProxy(engine.server.port);
  await using observer = connectSdk('0.22.1', engine.url);
  await using worker = connectSdk('0.22.1', proxy.url, { workerName: 'roaming' });
  worker.registerFunction('roaming::where', async () => 'here');
  await worker.settled();
  await worker.settled();
  const [former] = await workersNamed(observer, 'roaming');

  proxy.cutClients();
  await expect.poll(() => proxy.taken).toBe(2);

  await expect
    .poll(async () => (await workersNamed(observer, 'roaming')).map(({ id }) => id))
    .not.toContain(former?.id);
  expect((await workersNamed(observer, 'roaming')).length).toBe(1);
  const answer = observer.trigger({ function_id: 'roaming::where', payload: {} });
  expect(await answer).toBe('here');
});

test('0.22.1: a call that ran on the lost connection is stopped when the worker returns', async () => {
  await using engine = await startEngine();
  await using proxy = await startProxy(engine.server.port);
  await using caller = connectSdk('0.22.1', engine.url);
  await using worker = connectSdk('0.22.1', proxy.url);
  worker.registerFunction('roaming::hang', () => new Promise(() => {}));
  await worker.settled();
  const call = caller.trigger({ function_id: 'roaming::hang', payload: {}, timeoutMs: 30_000 });
  call.catch(() => {});
  await caller.settled();

  proxy.cutClients();

  await expect(call).rejects.toMatchObject({ code: 'invocation_stopped' });
});

test('0.11.6: cut off on its own side only, a worker serves again once the engine misses its pongs', async () => {
  await using engine = await startEngine({ limits: { pingIntervalMs: 100, idleMs: 400 } });
  await using proxy = await startProxy(engine.server.port);
  await using observer = connectSdk('0.11.6', engine.url);
  await using worker = connectSdk('0.11.6', proxy.url, { workerName: 'roaming' });
  worker.registerFunction('roaming::where', async () => 'here');
  await worker.settled();

  proxy.cutClients();
  await expect.poll(() => proxy.taken).toBe(2);

  const call = () => observer.trigger({ function_id: 'roaming::where', payload: {}, timeoutMs: 30_000 });
  await expect.poll(call).toBe('here');
  expect((await workersNamed(observer, 'roaming')).length).toBe(1);
});

/** As the 0.22.1 SDK sends it; `previous_worker_id` is the field it uses. */
const reattach = (previous_worker_id: unknown, reattach_token: unknown) => ({
  type: 'reattach',
  previous_worker_id,
  reattach_token,
});

test('the right token ends the former connection before the next frame is handled', async () => {
  await using engine = await startEngine();
  await using former = await RawPeer.connect(engine.url);
  const { worker_id, reattach_token } = await former.next('workerregistered');
  former.send({ type: 'registerfunction', id: 'place::kept' });
  await former.call('engine::workers::list');
  await using returned = await RawPeer.connect(engine.url);

  const ended = former.closed();
  returned.send(reattach(worker_id, reattach_token));
  returned.send({ type: 'registerfunction', id: 'place::kept' });

  await within(ended, 'the end of the former connection');
  await returned.call('engine::workers::list');
  expect(returned.inbox.map(({ type }) => type)).toEqual(['workerregistered']);
});

test.each([
  ['a wrong token', (own: string) => [own, crypto.randomUUID()]],
  ['no token', (own: string) => [own, undefined]],
  ['an unknown id', () => [crypto.randomUUID(), crypto.randomUUID()]],
])('a reattach with %s is ignored', async (_what, forged) => {
  await using engine = await startEngine();
  await using owner = await RawPeer.connect(engine.url);
  const { worker_id } = await owner.next('workerregistered');
  owner.send({ type: 'registerfunction', id: 'place::kept' });
  await owner.call('engine::workers::list');
  await using thief = await RawPeer.connect(engine.url);

  thief.send(reattach(...(forged(worker_id as string) as [unknown, unknown])));
  thief.send({ type: 'registerfunction', id: 'place::kept' });

  expect(await thief.next('registrationrejected')).toMatchObject({ owner_worker_id: worker_id });
  expect((await owner.call('engine::workers::list')).error).toBeUndefined();
});

async function workersNamed(client: SdkClient, name: string): Promise<{ id: string; name: string }[]> {
  const { workers } = await client.trigger({ function_id: 'engine::workers::list', payload: { search: name } });
  return workers;
}

/** Two workers with the same function id: the first live owner serves, the next in line follows. */
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { connectSdk, pairs, versions } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';

test.each(pairs)('bus.P6 the first owner (%s) keeps the id; the second (%s) serves when it leaves', async (...pair) => {
  await using engine = await startEngine();
  await using caller = connectSdk('0.22.1', engine.url);
  const call = () => caller.trigger({ function_id: 'shared::id', payload: {} });
  const first = connectSdk(pair[0], engine.url);
  first.registerFunction('shared::id', async () => 'first');
  await first.settled();
  await using second = connectSdk(pair[1], engine.url);
  second.registerFunction('shared::id', async () => 'second');
  await second.settled();

  expect(await call()).toBe('first');
  await first.shutdown();
  await expect.poll(call).toBe('second');
});

test.each(versions)('%s: the second owner leaving changes nothing for the first', async (version) => {
  await using engine = await startEngine();
  await using first = connectSdk(version, engine.url);
  first.registerFunction('shared::id', async () => 'first');
  await first.settled();
  await using second = connectSdk(version, engine.url);
  const claim = second.registerFunction('shared::id', async () => 'second');
  await second.settled();

  claim.unregister();
  await second.settled();

  expect(await second.trigger({ function_id: 'shared::id', payload: {} })).toBe('first');
});

test.each(versions)('%s: the first owner unregistering hands the id to the next in line', async (version) => {
  await using engine = await startEngine();
  await using first = connectSdk(version, engine.url);
  const claim = first.registerFunction('shared::id', async () => 'first');
  await first.settled();
  await using second = connectSdk(version, engine.url);
  second.registerFunction('shared::id', async () => 'second');
  await second.settled();

  claim.unregister();
  await first.settled();

  expect(await first.trigger({ function_id: 'shared::id', payload: {} })).toBe('second');
});

test('the newcomer gets the owner of the id', async () => {
  await using engine = await startEngine();
  await using owner = await RawPeer.connect(engine.url);
  await using newcomer = await RawPeer.connect(engine.url);
  const { worker_id } = await owner.next('workerregistered');
  owner.send({ type: 'registerfunction', id: 'shared::id' });
  await owner.call('engine::workers::list');

  newcomer.send({ type: 'registerfunction', id: 'shared::id' });

  expect(await newcomer.next('registrationrejected')).toEqual({
    type: 'registrationrejected',
    code: 'FUNCTION_NAMESPACE_CONFLICT',
    namespace: 'default',
    owner_worker_id: worker_id,
    function_id: 'shared::id',
  });
});

test('a worker that moves to a namespace where its id is taken gets a rejection', async () => {
  await using engine = await startEngine();
  await using owner = await RawPeer.connect(engine.url);
  await using newcomer = await RawPeer.connect(engine.url);
  const { worker_id } = await owner.next('workerregistered');
  for (const peer of [owner, newcomer]) {
    peer.send({ type: 'registerfunction', id: 'shared::id' });
    await peer.call('engine::workers::register', { name: 'any', pid: 1, namespace: 'blue' });
  }

  expect(await newcomer.next('registrationrejected', ({ namespace }) => namespace === 'blue')).toEqual({
    type: 'registrationrejected',
    code: 'FUNCTION_NAMESPACE_CONFLICT',
    namespace: 'blue',
    owner_worker_id: worker_id,
    function_id: 'shared::id',
  });
});

test.each(versions)('bus.P6 %s: a function of the engine cannot be replaced', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  client.registerFunction('engine::channels::create', async () => 'hijacked');

  expect(await client.trigger({ function_id: 'engine::channels::create', payload: {} })).toEqual({
    writer: { channel_id: expect.any(String), access_key: expect.any(String), direction: 'write' },
    reader: { channel_id: expect.any(String), access_key: expect.any(String), direction: 'read' },
  });
});

test('a peer that tries to replace a function of the engine is rejected', async () => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);

  peer.send({ type: 'registerfunction', id: 'engine::workers::list' });

  expect(await peer.next('registrationrejected')).toEqual({
    type: 'registrationrejected',
    code: 'FUNCTION_NAMESPACE_CONFLICT',
    namespace: 'default',
    owner_worker_id: 'engine',
    function_id: 'engine::workers::list',
  });
});

test.each(versions)('%s: other ids that begin with engine:: are free', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  client.registerFunction('engine::console::status', async () => 'mine');

  expect(await client.trigger({ function_id: 'engine::console::status', payload: {} })).toBe('mine');
});

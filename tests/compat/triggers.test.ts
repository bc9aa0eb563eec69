/** Trigger types from one client, bindings from another: delivered, fired, refused, taken back. */
import { expect, test, vi } from 'vitest';

import { silentLog } from '#contract';
import { startEngine } from '#testing';
import { connectSdk, pairs, versions, type SdkClient } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';
import { offer, type Binding } from './support/trigger-provider.ts';
import { deferred, within } from './support/waiting.ts';

test.each(pairs)('bus.P9 a type of a %s provider is bound and heard by a %s consumer', async (...pair) => {
  await using engine = await startEngine();
  await using provider = connectSdk(pair[0], engine.url);
  await using consumer = connectSdk(pair[1], engine.url);
  const bound = offer(provider, 'clock');
  await provider.settled();
  const heard = deferred<unknown>();
  consumer.registerFunction('consumer::tick', async (event: unknown, metadata: unknown) => {
    heard.resolve({ event, metadata });
  });
  consumer.registerTrigger({
    type: 'clock',
    function_id: 'consumer::tick',
    config: { every: '1s' },
    metadata: { tag: 'a' },
  });

  const binding = await within(bound.next(), 'the binding');
  expect(binding).toEqual({
    id: expect.any(String),
    function_id: 'consumer::tick',
    config: { every: '1s' },
    metadata: { tag: 'a' },
  });

  const { function_id, metadata } = binding;
  await provider.trigger({ function_id, payload: { at: 12 }, metadata });
  const passesMetadata = pair[0] === '0.22.1' && pair[1] === '0.22.1';
  expect(await within(heard.promise, 'the event')).toEqual({
    event: { at: 12 },
    metadata: passesMetadata ? { tag: 'a' } : undefined,
  });
});

test.each(pairs)('bus.P9 a binding made before its type waits for it (%s provider, %s consumer)', async (...pair) => {
  await using engine = await startEngine();
  await using consumer = connectSdk(pair[1], engine.url);
  consumer.registerTrigger({ type: 'later', function_id: 'consumer::any', config: { n: 1 } });
  await consumer.settled();

  await using provider = connectSdk(pair[0], engine.url);
  const bound = offer(provider, 'later');

  expect(await within(bound.next(), 'the parked binding')).toMatchObject({
    function_id: 'consumer::any',
    config: { n: 1 },
  });
});

test.each(pairs)('bus.P9 a provider that leaves and returns gets its bindings again (%s, then %s)', async (...pair) => {
  await using engine = await startEngine();
  await using consumer = connectSdk('0.22.1', engine.url);
  consumer.registerTrigger({ type: 'clock', function_id: 'consumer::tick', config: {} });
  const first = connectSdk(pair[0], engine.url);
  const { id } = await within(offer(first, 'clock').next(), 'the binding');
  await first.shutdown();

  await using second = connectSdk(pair[1], engine.url);

  expect(await within(offer(second, 'clock').next(), 'the binding again')).toMatchObject({ id });
});

test.each(versions)(
  '%s: a trigger of a type that no worker offers is a warning, and pending in the lists',
  async (version) => {
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (text: string, more?: object) => warnings.push({ text, ...more }) };
    await using engine = await startEngine({ log });
    await using consumer = connectSdk(version, engine.url, { workerName: 'shop' });
    consumer.registerFunction('consumer::tick', async () => 'done');
    consumer.registerTrigger({ type: 'clock', function_id: 'consumer::tick', config: {} });
    await consumer.settled();
    const pending = async () => {
      const ask = (function_id: string, payload: object) => consumer.trigger({ function_id, payload });
      const { registered_triggers } = await ask('engine::registered-triggers::list', {});
      const info = await ask('engine::functions::info', { function_id: 'consumer::tick' });
      return [...registered_triggers, ...info.registered_triggers].map((row: { pending?: true }) => row.pending);
    };

    expect(warnings).toContainEqual({
      text: 'a trigger waits for a worker that offers its type',
      type: 'clock',
      trigger: expect.any(String),
      function: 'consumer::tick',
      worker: expect.any(String),
    });
    expect(await pending()).toEqual([true, true]);

    await using provider = connectSdk('0.22.1', engine.url);
    await within(offer(provider, 'clock').next(), 'the binding');
    expect(await pending()).toEqual([undefined, undefined]);
  },
);

test.each(versions)('%s: the provider hears when the consumer unbinds, leaves, or stays', async (version) => {
  await using engine = await startEngine();
  await using provider = connectSdk('0.22.1', engine.url);
  const bound = offer(provider, 'clock');
  await provider.settled();
  const bind = (client: SdkClient, n: number) =>
    client.registerTrigger({ type: 'clock', function_id: 'consumer::tick', config: { n } });
  await using staying = connectSdk(version, engine.url);
  bind(staying, 0);
  const kept = await within(bound.next(), 'the first binding');
  const leaving = connectSdk(version, engine.url);
  const unbound = bind(leaving, 1);
  const one = await within(bound.next(), 'the second binding');
  bind(leaving, 2);
  const two = await within(bound.next(), 'the third binding');

  await leaving.settled();
  unbound.unregister();
  expect(await within(bound.nextRemoved(), 'the end of one')).toEqual({ id: one.id, function_id: '' });
  await leaving.shutdown();
  expect(await within(bound.nextRemoved(), 'the end of two')).toEqual({ id: two.id, function_id: '' });

  const { registered_triggers } = await staying.trigger({
    function_id: 'engine::registered-triggers::list',
    payload: {},
  });
  expect(registered_triggers.map(({ id }: Binding) => id)).toEqual([kept.id]);
});

test.each(versions)(
  'a binder hears that a %s provider refused, and gets its binding when another takes it',
  async (version) => {
    await using engine = await startEngine();
    await using provider = connectSdk(version, engine.url);
    provider.registerTriggerType(
      { id: 'picky', description: 'Takes nothing.' },
      {
        registerTrigger: () => Promise.reject(new Error('no such schedule')),
        unregisterTrigger: () => Promise.resolve(),
      },
    );
    await provider.settled();
    await using binder = await RawPeer.connect(engine.url);
    binder.send({ type: 'registertrigger', id: 't1', trigger_type: 'picky', function_id: 'f', config: {} });

    expect(await binder.next('triggerregistrationresult')).toEqual({
      type: 'triggerregistrationresult',
      id: 't1',
      trigger_type: 'picky',
      function_id: 'f',
      error: { code: 'trigger_registration_failed', message: 'no such schedule' },
    });

    await using kinder = connectSdk(version, engine.url);
    expect(await within(offer(kinder, 'picky').next(), 'the binding')).toMatchObject({ id: 't1' });
  },
);

test('a 0.22.1 binder prints why its binding was refused', async () => {
  await using engine = await startEngine();
  await using provider = connectSdk('0.22.1', engine.url);
  provider.registerTriggerType(
    { id: 'picky', description: 'Takes nothing.' },
    { registerTrigger: () => Promise.reject(new Error('no such schedule')), unregisterTrigger: async () => {} },
  );
  await provider.settled();
  await using binder = connectSdk('0.22.1', engine.url);
  binder.registerTrigger({ type: 'picky', function_id: 'f', config: {} });

  const printed = () => vi.mocked(console.error).mock.calls.map(String).join('\n');
  await expect.poll(printed).toMatch(/\[iii\] Trigger registration failed for "[\w-]+" \(picky\): no such schedule/);
});

test('only the provider of a type may speak for it', async () => {
  await using engine = await startEngine();
  await using provider = await RawPeer.connect(engine.url);
  await using stranger = await RawPeer.connect(engine.url);
  await using binder = await RawPeer.connect(engine.url);
  provider.send({ type: 'registertriggertype', id: 'clock', description: 'Ticks.' });
  await provider.call('engine::workers::list');
  binder.send({ type: 'registertrigger', id: 't1', trigger_type: 'clock', function_id: 'f', config: {} });
  await provider.next('registertrigger');

  const verdict = { type: 'triggerregistrationresult', id: 't1', trigger_type: 'clock', function_id: 'f' };
  stranger.send({ ...verdict, error: { code: 'E', message: 'forged' } });
  await stranger.call('engine::workers::list');
  provider.send(verdict);
  await provider.call('engine::workers::list');

  await binder.call('engine::workers::list');
  expect(binder.inbox.map(({ type }) => type)).toEqual(['workerregistered']);
});

test.each(versions)('%s: an unregistered type takes no bindings; they wait for the next provider', async (version) => {
  await using engine = await startEngine();
  await using provider = connectSdk(version, engine.url);
  const type = { id: 'clock', description: 'Ticks.' };
  const handler = { registerTrigger: async () => {}, unregisterTrigger: async () => {} };
  const ref = provider.registerTriggerType(type, handler);
  await provider.settled();

  ref.unregister();
  const { triggers } = await provider.trigger({ function_id: 'engine::triggers::list', payload: {} });
  expect(triggers).toEqual([]);

  provider.registerTrigger({ type: 'clock', function_id: 'f', config: {} });
  await provider.settled();
  await using next = connectSdk(version, engine.url);
  expect(await within(offer(next, 'clock').next(), 'the parked binding')).toMatchObject({ function_id: 'f' });
});

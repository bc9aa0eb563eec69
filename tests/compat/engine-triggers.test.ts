/** The engine's own events, and bindings that outlive the connection that made them. */
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { connectSdk, versions } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- events are compared as they come
type Event = any;

test.each(versions)(
  '%s: engine::workers-available reports workers that connect, register and leave',
  async (version) => {
    await using engine = await startEngine();
    await using listener = connectSdk(version, engine.url);
    const events: Event[] = [];
    listener.registerFunction('watch::workers', async (event: Event) => void events.push(event));
    listener.registerTrigger({ type: 'engine::workers-available', function_id: 'watch::workers', config: {} });
    await listener.settled();
    await listener.settled();
    events.length = 0;

    await using peer = await RawPeer.connect(engine.url);
    const { worker_id } = await peer.next('workerregistered');
    await peer.call('engine::workers::register', { name: 'visitor', pid: 1 });
    peer.socket.close();

    await expect
      .poll(() => events)
      .toEqual([
        { event: 'worker_connected', worker_id },
        { event: 'worker_metadata_updated', worker_id },
        { event: 'worker_disconnected', worker_id },
      ]);
  },
);

test.each(versions)(
  '%s: engine::functions-available reports the new set of functions, internal ones too',
  async (version) => {
    await using engine = await startEngine();
    await using listener = connectSdk(version, engine.url);
    const events: Event[] = [];
    listener.registerFunction('watch::functions', async (event: Event) => void events.push(event));
    listener.registerTrigger({ type: 'engine::functions-available', function_id: 'watch::functions', config: {} });
    await listener.settled();
    const namesOf = (event: Event): string[] => event?.functions.map((row: Event) => row.function_id) ?? [];

    await using worker = connectSdk('0.22.1', engine.url, { workerName: 'newcomer' });
    const ref = worker.registerFunction('newcomer::greet', async () => 'hi', { description: 'Says hi.' });
    await expect.poll(() => namesOf(events.at(-1))).toContain('newcomer::greet');

    const event = events.at(-1);
    expect(event.event).toBe('functions_changed');
    expect(namesOf(event)).toContain('engine::functions::list');
    expect(event.functions.find((row: Event) => row.function_id === 'newcomer::greet')).toMatchObject({
      worker_name: 'newcomer',
      description: 'Says hi.',
    });

    ref.unregister();
    await expect.poll(() => namesOf(events.at(-1))).not.toContain('newcomer::greet');
  },
);

test('metadata of a binding to an engine type comes with every event', async () => {
  await using engine = await startEngine();
  await using listener = connectSdk('0.22.1', engine.url);
  const seen: unknown[] = [];
  listener.registerFunction('watch::workers', async (_event: Event, metadata: unknown) => void seen.push(metadata));
  listener.registerTrigger({
    type: 'engine::workers-available',
    function_id: 'watch::workers',
    config: {},
    metadata: { for: 'me' },
  });
  await listener.settled();

  await using visitor = await RawPeer.connect(engine.url);
  await visitor.next('workerregistered');

  await expect.poll(() => seen.at(-1)).toEqual({ for: 'me' });
});

test.each(versions)(
  '%s: a binding made with engine::register_trigger outlives its maker until it is removed',
  async (version) => {
    await using engine = await startEngine();
    await using provider = await RawPeer.connect(engine.url);
    await using other = connectSdk(version, engine.url);
    provider.send({ type: 'registertriggertype', id: 'clock', description: 'Ticks.' });
    await provider.call('engine::workers::list');
    const maker = connectSdk(version, engine.url);
    const making = maker.trigger({
      function_id: 'engine::register_trigger',
      payload: { trigger_type: 'clock', function_id: 'any::fn', config: { n: 1 }, metadata: { m: 2 } },
    });
    const handed = await provider.next('registertrigger');
    expect(handed).toEqual({
      type: 'registertrigger',
      id: expect.any(String),
      trigger_type: 'clock',
      function_id: 'any::fn',
      config: { n: 1 },
      metadata: { m: 2 },
    });
    provider.send({ ...handed, type: 'triggerregistrationresult' });
    expect(await making).toEqual({ id: handed.id });
    await maker.shutdown();

    const removing = { function_id: 'engine::unregister_trigger', payload: { id: handed.id } };
    expect(await other.trigger(removing)).toEqual({ removed: true });
    expect(await provider.next('unregistertrigger')).toEqual({
      type: 'unregistertrigger',
      id: handed.id,
      trigger_type: 'clock',
    });
    expect(await other.trigger(removing)).toEqual({ removed: false });
  },
);

test.each(versions)('%s: engine::register_trigger fails with the provider’s words when it refuses', async (version) => {
  await using engine = await startEngine();
  await using provider = await RawPeer.connect(engine.url);
  await using client = connectSdk(version, engine.url);
  provider.send({ type: 'registertriggertype', id: 'clock', description: 'Ticks.' });
  await provider.call('engine::workers::list');

  const making = client.trigger({
    function_id: 'engine::register_trigger',
    payload: { trigger_type: 'clock', function_id: 'any::fn', config: {} },
  });
  making.catch(() => {});
  const { id, trigger_type, function_id } = await provider.next('registertrigger');
  const error = { code: 'trigger_registration_failed', message: 'the clock is broken' };
  provider.send({ type: 'triggerregistrationresult', id, trigger_type, function_id, error });

  await expect(making).rejects.toMatchObject({
    code: 'trigger_registration_failed',
    message: 'trigger_registration_failed: the clock is broken',
  });
  const { registered_triggers } = await client.trigger({
    function_id: 'engine::registered-triggers::list',
    payload: {},
  });
  expect(registered_triggers).toEqual([]);
});

test.each(versions)('%s: a binding of another connection cannot be removed', async (version) => {
  await using engine = await startEngine();
  await using owner = await RawPeer.connect(engine.url);
  await using client = connectSdk(version, engine.url);
  owner.send({ type: 'registertrigger', id: 'mine', trigger_type: 'clock', function_id: 'f', config: {} });
  await owner.call('engine::workers::list');

  const answer = await client.trigger({ function_id: 'engine::unregister_trigger', payload: { id: 'mine' } });

  expect(answer).toEqual({ removed: false });
});

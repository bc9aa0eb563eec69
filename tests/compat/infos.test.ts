/** The engine's details: one function, worker, trigger type or binding, and the error when there is none. */
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { connectSdk, versions, type SdkClient } from './support/clients.ts';

const schema = { type: 'object' } as const;
const handler = { registerTrigger: async () => {}, unregisterTrigger: async () => {} };

/** A worker with one function, one trigger type, and one binding of the type to the function. */
async function populate(client: SdkClient): Promise<string> {
  client.registerFunction('shop::order', async () => 0, {
    description: 'Orders.',
    request_format: schema,
    response_format: schema,
    metadata: { tier: 1 },
  });
  const type = { id: 'shop-opens', description: 'When the shop opens.', trigger_request_format: schema };
  client.registerTriggerType({ ...type, call_request_format: { type: 'null' } } as typeof type, handler);
  client.registerTrigger({ type: 'shop-opens', function_id: 'shop::order', config: { door: 'x'.repeat(100) } });
  await client.settled();
  const { registered_triggers } = await ask(client, 'registered-triggers::list');
  return registered_triggers[0].id;
}

const config = { door: 'x'.repeat(100) };
const details = (bindingId: string) => ({
  function_id: 'shop::order',
  namespace: 'default',
  worker_name: 'shop',
  description: 'Orders.',
  request_schema: schema,
  response_schema: schema,
  metadata: { tier: 1 },
  registered_triggers: [{ id: bindingId, trigger_type: 'shop-opens', config }],
});
const bindingRow = (bindingId: string) => ({
  id: bindingId,
  trigger_type: 'shop-opens',
  function_id: 'shop::order',
  worker_name: 'shop',
  config,
  config_summary: `{"door":"${'x'.repeat(70)}…`,
});
const typeRow = { id: 'shop-opens', worker_name: 'shop', description: 'When the shop opens.' };

test.each(versions)('%s: one function in detail, several at once, and the one that is missing', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url, { workerName: 'shop' });
  const id = await populate(client);

  expect(await ask(client, 'functions::info', { function_id: 'shop::order' })).toEqual(details(id));
  expect(await ask(client, 'functions::info', { function_ids: ['no::such', 'shop::order'] })).toEqual({
    functions: [{ function_id: 'no::such', error: 'not_found' }, details(id)],
  });
});

test.each(versions)('%s: one worker in detail, by name and by id', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url, { workerName: 'shop' });
  const id = await populate(client);
  const { workers } = await ask(client, 'workers::list');

  const answer = await ask(client, 'workers::info', { name: 'shop' });

  expect(answer).toEqual({
    worker: { ...workers[0], internal: false },
    functions: [
      {
        function_id: 'shop::order',
        namespace: 'default',
        worker_name: 'shop',
        description: 'Orders.',
        request_format: schema,
        response_format: schema,
        metadata: { tier: 1 },
      },
    ],
    trigger_types: [typeRow],
    registered_triggers: [bindingRow(id)],
  });
  expect(await ask(client, 'workers::info', { name: workers[0].id })).toEqual(answer);
});

test.each(versions)('%s: trigger types, as new clients read them and as old ones do', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url, { workerName: 'shop' });
  await populate(client);
  const own = ['engine::functions-available', 'engine::workers-available'];

  expect(await ask(client, 'triggers::list')).toEqual({ triggers: [typeRow] });
  const { triggers } = await ask(client, 'triggers::list', { include_internal: true });
  expect(triggers.map((row: { id: string }) => row.id)).toEqual([...own, 'shop-opens']);
  expect(await ask(client, 'triggers::list', { search: 'the shop', prefix: 'shop', worker: 'shop' })).toEqual({
    triggers: [typeRow],
  });
  expect(await ask(client, 'triggers::list', { worker: 'unknown' })).toEqual({ triggers: [] });
  expect(await ask(client, 'triggers::info', { id: 'shop-opens' })).toEqual({
    ...typeRow,
    configuration_schema: schema,
    request_schema: { type: 'null' },
    instance_count: 1,
  });
  expect(await ask(client, 'trigger-types::list')).toEqual({
    trigger_types: [
      {
        id: 'shop-opens',
        description: 'When the shop opens.',
        trigger_request_format: schema,
        call_request_format: { type: 'null' },
      },
    ],
  });
});

test.each(versions)('%s: bindings, with their filters, and one with its type and function', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url, { workerName: 'shop' });
  const id = await populate(client);
  client.registerTrigger({ type: 'unknown-type', function_id: 'engine::console::refresh', config: null });
  await client.settled();
  const count = async (filter: object) =>
    (await ask(client, 'registered-triggers::list', filter)).registered_triggers.length as number;

  expect(await ask(client, 'registered-triggers::list')).toEqual({ registered_triggers: [bindingRow(id)] });
  expect(await count({ include_internal: true })).toBe(2);
  expect(await count({ trigger_type: 'shop-opens', function_id: 'shop::order', worker: 'shop' })).toBe(1);
  expect(await count({ search: 'order' })).toBe(1);
  expect(await count({ trigger_type: 'other' })).toBe(0);
  expect(await ask(client, 'registered-triggers::info', { id })).toEqual({
    ...bindingRow(id),
    trigger: typeRow,
    function: details(id),
  });
});

const refusals: [string, object, string][] = [
  ['functions::info', { function_id: 'no::such' }, "NOT_FOUND: Function 'no::such' is not registered."],
  ['workers::info', { name: 'unknown' }, "NOT_FOUND: Worker 'unknown' is not connected."],
  ['triggers::info', { id: 'no-type' }, "NOT_FOUND: Trigger type 'no-type' is not registered."],
  ['registered-triggers::info', { id: 'none' }, "NOT_FOUND: Registered trigger 'none' was not found."],
  ['functions::info', {}, 'INVALID_ARGUMENTS: give exactly one of function_id and function_ids'],
  [
    'functions::info',
    { function_id: 'a', function_ids: ['b'] },
    'INVALID_ARGUMENTS: give exactly one of function_id and function_ids',
  ],
];

test.each(refusals.flatMap((row) => versions.map((version) => [version, ...row] as const)))(
  '%s: engine::%s with %j is refused with its code and text',
  async (version, id, payload, message) => {
    await using engine = await startEngine();
    await using client = connectSdk(version, engine.url);

    await expect(ask(client, id, payload)).rejects.toMatchObject({ code: message.split(':')[0], message });
  },
);

test.each(versions)('%s: a request of the wrong shape is refused, naming the field', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);

  await expect(ask(client, 'workers::info', { name: 7 })).rejects.toMatchObject({
    code: 'deserialization_error',
    message: expect.stringMatching(/^deserialization_error: Failed to deserialize input.*name/),
  });
});

test('at most 32 functions are described at once', async () => {
  await using engine = await startEngine();
  await using client = connectSdk('0.22.1', engine.url);
  const ids = Array.from({ length: 33 }, (_, n) => `f${n}`);

  expect((await ask(client, 'functions::info', { function_ids: ids.slice(1) })).functions.length).toBe(32);
  await expect(ask(client, 'functions::info', { function_ids: ids })).rejects.toMatchObject({
    code: 'deserialization_error',
  });
});

// oxlint-disable-next-line typescript/no-explicit-any -- answers are compared as they come
function ask(client: SdkClient, id: string, payload: object = {}): Promise<any> {
  return client.trigger({ function_id: `engine::${id}`, payload });
}

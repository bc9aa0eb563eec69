/** The engine's lists: rows with the fields of old and new clients, filters, and hidden rows. */
import { arch, hostname, platform, release } from 'node:os';

import { expect, test } from 'vitest';

import { connect } from '#client';
import { startEngine } from '#testing';
import { connectSdk, versions, type SdkClient } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';

const schema = { type: 'object', properties: { n: { type: 'number' } } } as const;

test.each(versions)('%s: engine::functions::list has a row with everything the worker said', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url, { workerName: 'lister' });
  client.registerFunction('math::double', async () => 0, {
    description: 'Doubles.',
    request_format: schema,
    response_format: { type: 'number' },
    metadata: { tier: 1 },
  });
  client.registerFunction('plain', async () => 0);
  await client.settled();

  expect(await list(client, 'functions', {})).toEqual([
    {
      function_id: 'math::double',
      namespace: 'default',
      worker_name: 'lister',
      description: 'Doubles.',
      request_format: schema,
      response_format: { type: 'number' },
      metadata: { tier: 1 },
    },
    { function_id: 'plain', namespace: 'default', worker_name: 'lister', description: null },
  ]);
});

test('a function of a worker that never said its name is listed under the first part of its id', async () => {
  await using engine = await startEngine();
  await using peer = await RawPeer.connect(engine.url);
  await using client = connectSdk('0.22.1', engine.url);
  peer.send({ type: 'registerfunction', id: 'nameless::fn' });
  await peer.call('engine::workers::list');

  const rows = await list(client, 'functions', {});

  expect(rows).toEqual([
    { function_id: 'nameless::fn', namespace: 'default', worker_name: 'nameless', description: null },
  ]);
});

test.each(versions)('%s: functions are found by search, prefix, worker and workers, best first', async (version) => {
  await using engine = await startEngine();
  await using one = connectSdk(version, engine.url, { workerName: 'one' });
  await using two = connectSdk(version, engine.url, { workerName: 'two' });
  one.registerFunction('file::read', async () => 0, { description: 'Reads a file.' });
  one.registerFunction('read', async () => 0, { description: 'The short name.' });
  one.registerFunction('hidden::read', async () => 0, { metadata: { internal: true } });
  two.registerFunction('reader::open', async () => 0, { description: 'Opens.' });
  two.registerFunction('other', async () => 0, { description: 'Helps to read.' });
  for (const client of [one, two, one, two]) await client.settled();
  const found = async (filter: object) => (await list(one, 'functions', filter)).map((row) => row.function_id);

  expect(await found({})).toEqual(['file::read', 'other', 'read', 'reader::open']);
  expect(await found({ search: 'READ' })).toEqual(['read', 'reader::open', 'file::read', 'other']);
  expect(await found({ prefix: 'read' })).toEqual(['read', 'reader::open']);
  expect(await found({ worker: 'two' })).toEqual(['other', 'reader::open']);
  expect(await found({ workers: ['one', 'two'], prefix: 'file' })).toEqual(['file::read']);
  expect(await found({ search: 'nothing like it' })).toEqual([]);
});

test.each(versions)('%s: internals are listed when asked for, and the engine’s own are among them', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  client.registerFunction('hidden::fn', async () => 0, { metadata: { internal: true } });
  client.registerFunction('engine::queue::list_topics', async () => 0);
  await client.settled();

  const shown = (await list(client, 'functions', {})).map((row) => row.function_id);
  const all = (await list(client, 'functions', { include_internal: true })).map((row) => row.function_id);

  expect(shown).toEqual(['engine::queue::list_topics']);
  expect(all).toEqual([
    'engine::approvals::answer',
    'engine::approvals::list',
    'engine::callers::list',
    'engine::callers::pause',
    'engine::callers::present',
    'engine::callers::stop',
    'engine::calls::cancel',
    'engine::calls::get',
    'engine::calls::list',
    'engine::calls::watch',
    'engine::channels::create',
    'engine::functions::info',
    'engine::functions::list',
    'engine::metrics',
    'engine::nodes::drain',
    'engine::nodes::list',
    'engine::queue::list_topics',
    'engine::register_trigger',
    'engine::registered-triggers::info',
    'engine::registered-triggers::list',
    'engine::trigger-types::list',
    'engine::triggers::info',
    'engine::triggers::list',
    'engine::unregister_trigger',
    'engine::watch',
    'engine::workers::info',
    'engine::workers::list',
    'engine::workers::register',
    'hidden::fn',
  ]);
});

test.each(versions)('%s: engine::workers::list shows what the SDK reported', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url, {
    workerName: 'worker-a',
    workerDescription: 'Does\u0007 things\u202e.',
  });
  client.registerFunction('b::two', async () => 0);
  client.registerFunction('a::one', async () => 0);
  await client.settled();
  const before = Date.now();

  const answer = await client.trigger({ function_id: 'engine::workers::list', payload: {} });

  expect(answer).toEqual({
    workers: [
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'worker-a',
        description: version === '0.22.1' ? 'Does things.' : null,
        version,
        runtime: 'node',
        os: `${platform()} ${release()} (${arch()})`,
        pid: process.pid,
        isolation: null,
        ip_address: '127.0.0.1',
        namespace: 'default',
        status: 'connected',
        connected_at_ms: expect.any(Number),
        active_invocations: 0,
        function_count: 2,
        functions: ['a::one', 'b::two'],
      },
    ],
    timestamp: expect.any(Number),
  });
  expect(answer.timestamp).toBeGreaterThanOrEqual(before);
  expect(answer.workers[0].connected_at_ms).toBeLessThanOrEqual(answer.timestamp);
});

test('workers are sorted by name, in-process ones are "available", and filters choose among them', async () => {
  await using engine = await startEngine();
  await using beta = connectSdk('0.22.1', engine.url, { workerName: 'beta' });
  await using unnamed = connectSdk('0.11.6', engine.url);
  await using silent = await RawPeer.connect(engine.url);
  await silent.next('workerregistered');
  const alpha = await connect(engine.engine.dialer(), { name: 'alpha', description: 'In this process.' });
  await unnamed.settled();
  await unnamed.settled();
  await beta.settled();
  await beta.settled();
  const found = async (filter: object) =>
    (await list(beta, 'workers', filter)).map(({ name, status }) => `${name} ${status}`);
  const byDefault = `${hostname()}:${process.pid}`;

  expect(await found({})).toEqual(
    ['alpha available', 'beta connected', `${byDefault} connected`].toSorted((a, b) => (a < b ? -1 : 1)),
  );
  expect(await found({ status: 'available' })).toEqual(['alpha available']);
  expect(await found({ search: 'bet' })).toEqual(['beta connected']);
  expect(await found({ search: 'this process' })).toEqual(['alpha available']);
  expect(await found({ runtime: 'python' })).toEqual([]);
  const [{ id }] = (await list(beta, 'workers', { search: 'beta' })) as [{ id: string }];
  expect(await found({ worker_id: id })).toEqual(['beta connected']);
  alpha.close();
});

// oxlint-disable-next-line typescript/no-explicit-any -- rows are compared as they come
async function list(client: SdkClient, what: 'functions' | 'workers', filter: object): Promise<any[]> {
  const answer = await client.trigger({ function_id: `engine::${what}::list`, payload: filter });
  expect(Object.keys(answer)).toContain(what);
  return answer[what];
}

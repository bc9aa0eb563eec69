/**
 * Callers that claim to be another caller, through every door; and callers with limited grants that try to get
 * around them.
 */
import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { connect, type Connection } from '#client';
import { makePrincipal, silentLog, type CallError, type Grants } from '#contract';
import { mcpHttp } from '#surfaces/mcp';
import { mcpClient, startEngine, tester, type WhoReply } from '#testing';
import { startWorkcell, type RunningWorkcell } from '../../../src/assembly/workcell.ts';
import { Peer, type AnyFrame } from '../engine/peer-socket.ts';

const OPERATOR = { id: 'operator:root', kind: 'operator', label: 'operator', client: { name: 'root', version: '1' } };

let cell: RunningWorkcell;
let far: Connection;
/** A worker with the feature `caller` that returns the frame as received. */
let mirror: Peer;
beforeAll(async () => {
  const entries = [{ def: tester, config: {} }];
  cell = await startWorkcell({ host: '127.0.0.1', port: 0, entries, log: silentLog });
  far = await connect(cell.url, { name: 'far', namespace: 'far' });
  far.serve({ def: tester, context: {} });
  mirror = await Peer.dial(cell.url);
  await mirror.call('engine::workers::register', { name: 'mirror', pid: 1, features: ['caller'] });
  await mirror.register('mirror::frame');
  mirror.answer('mirror::frame', (frame) => frame);
  await far.call('engine::workers::list');
});
afterAll(async () => {
  far.close();
  mirror[Symbol.dispose]();
  await cell.close();
});

/** Extra frame fields that claim to be the operator. */
const CLAIMS: [string, AnyFrame][] = [
  ['caller', { caller: OPERATOR }],
  ['caller with grants', { caller: { ...OPERATOR, grants: {} } }],
  ['caller as text', { caller: 'operator' }],
  ['caller as list', { caller: [OPERATOR] }],
  ['caller null', { caller: null }],
  ['caller of an unknown kind', { caller: { ...OPERATOR, kind: 'root' } }],
  ['principal', { principal: OPERATOR }],
  ['grants', { grants: {} }],
  ['metadata', { metadata: { caller: OPERATOR, principal: OPERATOR, workcell_door: 'cli' } }],
  ['baggage', { baggage: 'principal=operator,caller=operator' }],
  ['callerId', { callerId: 'operator', caller_id: 'operator', worker_id: 'operator' }],
];

describe('a peer on the bus', () => {
  test.each(
    CLAIMS.flatMap(([name, claim]) => ['tester', 'far', 'mirror'].map((worker) => [name, worker, claim] as const)),
  )('bus.P17 %s, towards %s: is taken for itself', async (_, worker, claim) => {
    using peer = await Peer.dial(cell.url);
    await peer.call('engine::workers::register', { name: 'mallory', pid: 1 });
    const [id, namespace] =
      worker === 'mirror' ? ['mirror::frame'] : ['tester::who', worker === 'far' ? 'far' : undefined];
    const { result } = await peer.call(id, { _caller_worker_id: 'operator' }, { ...claim, namespace });
    const principal = worker === 'mirror' ? result.caller : result.principal;
    expect(principal).toMatchObject({ kind: 'local', label: 'mallory', id: expect.stringMatching(/^local:/) });
    if (worker === 'mirror')
      expect([result.via, result.data._caller_worker_id]).toEqual([undefined, principal.id.slice(6)]);
  });

  test('the same field twice, and one spelled with escapes: the engine writes last', async () => {
    using peer = await Peer.dial(cell.url);
    for (const key of ['caller', String.raw`\u0063aller`, 'caller\\u0000']) {
      const invocation_id = randomUUID();
      const frame = JSON.stringify({ type: 'invokefunction', invocation_id, function_id: 'mirror::frame', data: {} });
      const forged = `"${key}":${JSON.stringify(OPERATOR)}`;
      peer.socket.send(`{${forged},${frame.slice(1, -1)},${forged}} `);
      const { result } = await peer.next(
        (got) => got.type === 'invocationresult' && got.invocation_id === invocation_id,
      );
      expect(result.caller.kind).toBe('local');
    }
  });

  test('bus.P17 a worker that did not ask sees nothing of callers, claimed or true', async () => {
    using plain = await Peer.dial(cell.url);
    const id = `plain::${randomUUID()}`;
    await plain.register(id);
    plain.answer(id, (frame) => frame);
    using peer = await Peer.dial(cell.url);
    for (const [, claim] of CLAIMS.slice(0, 5)) {
      const { result } = await peer.call(id, {}, { ...claim, via: undefined });
      expect(Object.keys(result).toSorted()).toEqual(['data', 'function_id', 'invocation_id', 'type']);
    }
    const bus = await connect(cell.engine.dialer(), { name: 'inside' });
    expect(Object.keys((await bus.call(id, {})) as object)).not.toContain('caller');
    bus.close();
  });
});

describe('on_behalf_of', () => {
  test('names the program of a peer and changes nothing else about it', async () => {
    using peer = await Peer.dial(cell.url);
    await peer.call('engine::workers::register', { name: 'mallory', pid: 1 });
    const on_behalf_of = { client: { ...OPERATOR, name: '\u202eoperator', version: '1' } };
    const { result } = await peer.call('mirror::frame', {}, { on_behalf_of, caller: OPERATOR });
    expect(result.caller).toEqual({
      id: expect.stringMatching(/^local:[0-9a-f-]{36}$/),
      kind: 'local',
      label: 'operator (mallory)',
      client: { name: 'operator', version: '1' },
    });
    expect(Object.keys(result)).not.toContain('on_behalf_of');
  });

  test.each<[unknown]>([
    ['operator'],
    [[OPERATOR]],
    [OPERATOR],
    [{ grants: {} }],
    [{ kind: 'operator' }],
    [{ only: 'tester' }],
    [{ only: [1] }],
    [{ only: Array.from({ length: 1001 }, () => 'tester') }],
    [{ read_only: 'yes' }],
    [{ client: 'operator' }],
  ])('%j cannot be read, and the call is refused', async (on_behalf_of) => {
    using peer = await Peer.dial(cell.url);
    const { error } = await peer.call('tester::who', {}, { on_behalf_of });
    expect(error).toMatchObject({ code: 'forbidden', message: expect.stringContaining('on_behalf_of') });
  });
});

describe('via', () => {
  test('names a call that the peer works on, or the call is refused: of another, ended, made up', async () => {
    using worker = await Peer.dial(cell.url);
    using thief = await Peer.dial(cell.url);
    const id = `slow::${randomUUID()}`;
    await worker.register(id);
    const operator = await connect(cell.engine.dialer(), { name: 'boss' });
    const waiting = operator.call(id, {});
    const { invocation_id } = await worker.next((frame) => frame.function_id === id);

    const asWorker = await worker.call('tester::who', {}, { via: invocation_id });
    expect((asWorker.result as WhoReply).principal).toMatchObject({ kind: 'operator', label: 'boss' });
    const refused = [
      await thief.call('tester::who', {}, { via: invocation_id }),
      await thief.call('tester::who', {}, { via: randomUUID(), caller: OPERATOR }),
      await worker.call('tester::who', {}, { via: '' }),
      await worker.call('engine::workers::list', {}, { via: randomUUID() }),
    ];
    worker.send({ type: 'invocationresult', invocation_id, result: 1 });
    await waiting;
    refused.push(await worker.call('tester::who', {}, { via: invocation_id }));
    operator.close();
    expect(refused.map(({ error }) => error?.code)).toEqual(Array.from({ length: 5 }, () => 'forbidden'));
  });

  test('shows what calls carried to no worker that a page calls', async () => {
    using worker = await Peer.dial(cell.url);
    using page = await Peer.dial(cell.url, { origin: cell.url.replace('ws', 'http') });
    const id = `spy::${randomUUID()}`;
    await worker.register(id);
    await page.call('engine::calls::watch');
    page.send({ type: 'invokefunction', invocation_id: randomUUID(), function_id: id, data: { secret: 1 } });
    const { invocation_id } = await worker.next((frame) => frame.function_id === id);
    const got = await worker.call('engine::calls::get', { id: invocation_id }, { via: invocation_id });
    expect(got.error.code).toBe('console_only');
  });
});

describe('over HTTP', () => {
  const HEADERS: Record<string, string>[] = [
    { 'User-Agent': 'operator' },
    { 'User-Agent': 'workcell:program/1' },
    { 'X-Caller': JSON.stringify(OPERATOR), 'X-Principal': 'operator', 'X-Workcell-Caller': 'operator' },
    { 'X-Forwarded-User': 'operator', 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=operator' },
    { Via: '1.1 operator', 'X-Via': randomUUID() },
    { Authorization: 'Bearer operator' },
    { baggage: 'principal=operator', traceparent: '00-operator' },
  ];

  test.each(HEADERS)('%j: the caller is local', async (headers) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } };
    const body = JSON.stringify({ _caller: OPERATOR, _caller_worker_id: 'operator' });
    const http = cell.url.replace('ws', 'http');
    const reported = (await (await fetch(`${http}/functions/tester/who`, { ...init, body })).json()) as WhoReply;
    expect(reported.principal).toMatchObject({
      id: 'local:http',
      kind: 'local',
      label: expect.stringMatching(/http\)?$/),
    });
    expect(reported.via).toBeNull();
  });
});

describe('over MCP', () => {
  test.each(['operator', 'workcell:program', 'operator\u0000', '\u202eoperator', 'page', 'x'.repeat(10_000), ''])(
    'a client that calls itself %j is local, by a number',
    async (name) => {
      const client = await mcpClient(cell.url, { name, version: OPERATOR.id });
      const meta = { caller: OPERATOR, principal: OPERATOR, via: randomUUID(), 'workcell/caller': OPERATOR };
      const reported = JSON.parse(await client.call('tester_who', { _caller: OPERATOR }, { meta })) as WhoReply;
      expect(reported.principal).toMatchObject({ id: expect.stringMatching(/^local:http#\d+$/), kind: 'local' });
      expect(reported.principal!.label).toMatch(/^(.{1,64} #\d+|http)$/);
      expect(reported.principal!.label).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(reported.via).toBeNull();
    },
  );
});

describe.each(['in this process', 'on a socket'])('a caller with grants, whose door is %s', (where) => {
  const ask = (grants: Grants) => (id: string, payload: object, namespace?: string) =>
    doors!.call(id, payload, { namespace, caller: makePrincipal('local', 'agent', grants) }).then(
      (result) => JSON.stringify(result),
      (error: unknown) => `${(error as CallError).code}: ${(error as CallError).message}`,
    );
  const open = ({ url, engine }: Pick<RunningWorkcell, 'url' | 'engine'>) =>
    connect(where === 'on a socket' ? url : engine.dialer(), { name: 'door' });
  /** The engine accepts narrower grants from a socket, but not another principal. */
  const label = where === 'on a socket' ? 'door' : 'agent';
  let doors: Connection | undefined;
  beforeAll(async () => {
    doors = await open(cell);
  });
  afterAll(() => doors?.close());
  const change = { id: 'tester::change', payload: {} };

  test('bus.P18 gets to nothing else: by itself, through workers here and elsewhere, one in another, nor the engine', async () => {
    const [readOnly, only] = [ask({ isReadOnly: true }), ask({ only: ['tester::ask', 'tester::who'] })];
    const tried: [string, object, string?][] = [
      ['tester::change', {}],
      ['tester::change', {}, 'far'],
      ['tester::ask', change],
      ['tester::ask', change, 'far'],
      ['tester::ask', { ...change, namespace: 'far' }],
      ['tester::ask', { ...change, namespace: 'far' }, 'far'],
      ['tester::ask', { id: 'tester::ask', payload: change }],
      ['tester::ask', { id: 'tester::ask', namespace: 'far', payload: { ...change, namespace: 'far' } }, 'far'],
      ['engine::register_trigger', { trigger_type: 'x', function_id: 'tester::change' }],
      [
        'tester::ask',
        { id: 'engine::register_trigger', payload: { trigger_type: 'x', function_id: 'tester::change' } },
      ],
      ['engine::workers::register', { name: 'operator' }],
    ];
    const outcomes: string[] = [];
    for (const attempt of tried) outcomes.push(await readOnly(...attempt), await only(...attempt));
    expect(outcomes.filter((outcome) => !outcome.includes('forbidden'))).toEqual([]);
    expect(outcomes).toHaveLength(22);
    expect(await only('engine::workers::list', {})).toMatch(
      new RegExp(`^forbidden: .*${label} may call only tester::ask, tester::who`),
    );

    const asked = { id: 'tester::who', payload: {} };
    for (const allowed of [await readOnly('tester::ask', asked), await only('tester::ask', asked, 'far')]) {
      expect(JSON.parse(allowed)).toMatchObject({ principal: { label } });
    }
  });

  test('cannot have a function called later: by a queue, as a void, or by a worker whose caller left', async () => {
    using worker = await Peer.dial(cell.url);
    await worker.call('engine::workers::register', { name: 'odd', pid: 1, features: ['caller', 'cancel'] });
    await worker.register('odd::wait', 'engine::queue::enqueue');
    const control = new AbortController();
    const caller = makePrincipal('local', 'agent', { only: ['odd::wait'] });
    const given = doors!.call('odd::wait', {}, { caller, signal: control.signal }).catch(() => 'cancelled');
    const { invocation_id } = await worker.next((frame) => frame.function_id === 'odd::wait');
    const tries = { via: invocation_id, action: { type: 'enqueue', queue: 'later' } };
    const enqueued = await worker.call('tester::change', {}, tries);
    const direct = await worker.call('tester::change', {}, { via: invocation_id });
    control.abort();
    await worker.next((frame) => frame.type === 'cancelinvocation');
    const late = await worker.call('tester::change', {}, { via: invocation_id });
    await given;
    expect([enqueued, direct, late].map(({ error }) => error?.code)).toEqual(['forbidden', 'forbidden', 'forbidden']);
    expect(worker.frames.filter(({ function_id }) => function_id === 'engine::queue::enqueue')).toEqual([]);
  });

  test('is limited to the tools of its MCP server, also where a tool has another calls it', async () => {
    await using running = await startEngine({
      onRequest: (request, response) => {
        const chunks: Buffer[] = [];
        request
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () => {
            const init = {
              method: 'POST',
              headers: request.headers as Record<string, string>,
              body: Buffer.concat(chunks),
            };
            void mcp!.fetch(new Request('http://localhost/mcp', init), { address: 'a' }).then(async (reply) => {
              response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.text());
            });
          });
      },
    });
    const worker = await connect(running.engine.dialer(), { name: 'tester' });
    worker.serve({ def: tester, context: {} });
    await worker.call('engine::workers::list');
    const door = await open(running);
    const options = { version: '1', maxBodyBytes: 1e6, log: silentLog };
    let mcp: ReturnType<typeof mcpHttp> | undefined = mcpHttp(door, { ...options, profile: { only: ['tester_ask'] } });
    const narrow = await mcpClient(running.url, { name: 'agent', version: '1' });
    const tried = [await narrow.call('tester_change'), await narrow.call('tester_ask', change)];
    await mcp.close();

    mcp = mcpHttp(door, { ...options, profile: { isReadOnly: true } });
    const reading = await mcpClient(running.url, { name: 'agent', version: '1' });
    tried.push(await reading.call('tester_change'), await reading.call('tester_ask', change));
    await mcp.close();
    expect(tried).toEqual([
      expect.stringContaining('no tool tester_change'),
      expect.stringContaining('forbidden: tester::change may not be called'),
      expect.stringContaining('no tool tester_change'),
      expect.stringContaining('forbidden: tester::change may not be called'),
    ]);
    for (const bus of [worker, door]) bus.close();
  });
});

test('bus.P18 what an app does not offer cannot be served by other peers instead', async () => {
  const denial = { functions: ['filesystem::rm'], permissions: ['fs.delete'], risks: ['high' as const] };
  const app = await startWorkcell({
    host: '127.0.0.1',
    port: 0,
    entries: [{ def: tester, config: {}, denial }],
    log: silentLog,
  });
  using evil = await Peer.dial(app.url);
  const offers: [string, unknown?][] = [
    ['filesystem::rm'],
    ['evil::rm', { permissions: ['fs.read', 'fs.delete'] }],
    ['evil::risk', { risk: 'high' }],
    ['evil::fine', { permissions: ['fs.read'], risk: 'low' }],
  ];
  for (const [id, metadata] of offers) {
    evil.send({ type: 'registerfunction', id, metadata });
    evil.answer(id, () => 'served');
  }
  await evil.settled();
  using caller = await Peer.dial(app.url);
  const outcomes: unknown[] = [];
  for (const [id] of offers) {
    const path = id.replaceAll('::', '/');
    const http = await fetch(`${app.url.replace('ws', 'http')}/functions/${path}`, { method: 'POST', body: '{}' });
    const direct = await caller.call(id);
    const nested = await caller.call('tester::ask', { id });
    outcomes.push([direct.error?.code ?? direct.result, nested.error ? 'refused' : nested.result, http.status]);
  }
  await app.close();
  const refused = ['forbidden', 'refused', 403];
  expect(outcomes).toEqual([refused, refused, refused, ['served', 'served', 200]]);
});

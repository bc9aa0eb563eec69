/** Control at the console over the calls of others: cancel one, stop all of a caller, pause it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';

import { connect, type Connection } from '#client';
import { CallError, silentLog, type LogFields } from '#contract';
import { Engine, startServer } from '#engine';
import { startEngine, type TestEngine } from '#testing';
import { worker } from './test-worker.ts';

let dug: string[] = [];
let ended: string[] = [];
const fn = <Id extends string>(id: Id, handle: Parameters<typeof worker.defineFunction>[0]['handle']) =>
  worker.defineFunction({
    ...{ id, summary: id, effect: 'execute', permissions: [], errors: ['D1'], examples: [], handle },
    request: z.object({ at: z.string().optional() }),
    response: z.unknown(),
    reads: { line: ['at'] },
  });
const digger = worker.withFunctions([
  fn('digger::dig', (request) => {
    dug.push((request as { at: string }).at);
    return 'done';
  }),
  fn('digger::stay', async (_, __, { signal, functionId }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    ended.push(functionId);
    return 'left';
  }),
  fn('digger::send', (_, __, { bus }) => bus.call('digger::stay')),
]);

let running: TestEngine;
let serving: Connection;
let agent: Connection;
let page: WebSocket;
let logged: [string, LogFields | undefined][];
beforeEach(async () => {
  [dug, ended, logged] = [[], [], []];
  const note = (message: string, fields?: LogFields) => void logged.push([message, fields]);
  running = await startEngine({ log: { debug() {}, info: note, warn() {}, error() {} } });
  serving = await connect(running.url, { name: 'digger' });
  serving.serve({ def: digger, context: {} });
  agent = await connect(running.url, { name: 'claude-code' });
  await expect.poll(() => agent.call('engine::functions::list').then(JSON.stringify)).toContain('digger::send');
  page = new WebSocket(running.url, { origin: running.url.replace(/^ws/, 'http') });
  await new Promise((resolve) => page.on('open', resolve));
});
afterEach(async () => {
  page.close();
  agent.close();
  serving.close();
  await running[Symbol.asyncDispose]();
});

/** As a page of the console calls. */
function ask<T>(functionId: string, data: object = {}): Promise<T> {
  const id = crypto.randomUUID();
  return new Promise((resolve, reject) => {
    page.on('message', (text: Buffer) => {
      const frame = JSON.parse(text.toString()) as { invocation_id?: string; result?: T; error?: { code: string } };
      if (frame.invocation_id !== id) return;
      if (frame.error) reject(new Error(frame.error.code));
      else resolve(frame.result as T);
    });
    page.send(JSON.stringify({ type: 'invokefunction', invocation_id: id, function_id: functionId, data }));
  });
}

interface Row {
  id: string;
  function_id: string;
  line: string | null;
  waits: boolean;
  outcome?: { kind: string; text: string };
}
const calls = () => ask<{ ended: Row[]; running: Row[] }>('engine::calls::list');
interface KnownCaller {
  id: string;
  label: string;
  running: number;
  waiting: number;
  paused: boolean;
}
const caller = async () => {
  const { callers } = await ask<{ callers: KnownCaller[] }>('engine::callers::list');
  return callers.find(({ label }) => label === 'claude-code')!;
};
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: unknown) => (error as CallError).code,
  );

test('mcp.P13 a cancelled call ends for its caller and in its worker, with the calls made for it', async () => {
  const sent = codeOf(agent.call('digger::send'));
  await expect.poll(async () => (await calls()).running.map((row) => row.function_id)).toHaveLength(2);
  const [outer] = (await calls()).running.filter((row) => row.function_id === 'digger::send');
  expect(await ask('engine::calls::cancel', { id: outer!.id })).toEqual({ cancelled: 2 });
  expect(await sent).toBe('CANCELLED');
  await expect.poll(() => ended).toEqual(['digger::stay']);
  expect((await calls()).ended.map(({ outcome }) => outcome?.kind)).toEqual(['cancelled', 'cancelled']);
  await expect(ask('engine::calls::cancel', { id: outer!.id })).rejects.toThrow('NOT_FOUND');
  expect(
    logged.filter(([message]) => message === 'a person acted on calls').map(([, fields]) => fields?.action),
  ).toEqual(['cancel']);
});

test('mcp.P13 calls of a paused caller wait while those of others run, and start in their order when it is resumed', async () => {
  await agent.call('digger::dig', { at: 'first' });
  const { id } = await caller();
  await ask('engine::callers::pause', { id });
  const waiting = ['a', 'b', 'c'].map((at) => agent.call('digger::dig', { at }));
  await expect.poll(async () => (await caller()).waiting).toBe(3);
  expect((await calls()).running.map(({ line, waits }) => [line, waits])).toEqual([
    ['a', true],
    ['b', true],
    ['c', true],
  ]);
  const other = await connect(running.url, { name: 'cursor' });
  expect(await other.call('digger::dig', { at: 'other' })).toBe('done');
  other.close();
  // Its own functions answer: the agent may still read the list.
  await agent.call('engine::workers::list');
  expect(dug).toEqual(['first', 'other']);
  await ask('engine::callers::pause', { id, on: false });
  expect(await Promise.all(waiting)).toEqual(['done', 'done', 'done']);
  expect(dug).toEqual(['first', 'other', 'a', 'b', 'c']);
  expect(await caller()).toMatchObject({ paused: false, waiting: 0, running: 0 });
});

test('mcp.P13 a paused connection stays paused under another name, with functions of its own, and for its clients', async () => {
  const sly = new WebSocket(running.url);
  await new Promise((resolve) => sly.on('open', resolve));
  const send = (frame: object) => sly.send(JSON.stringify({ invocation_id: crypto.randomUUID(), ...frame }));
  const dig = (at: string, more: object = {}) =>
    send({ type: 'invokefunction', function_id: 'digger::dig', data: { at }, ...more });
  const rename = (name: string) =>
    send({ type: 'invokefunction', function_id: 'engine::workers::register', data: { name } });
  const callers = async () => (await ask<{ callers: KnownCaller[] }>('engine::callers::list')).callers;
  rename('sly');
  dig('first');
  await expect.poll(() => dug).toEqual(['first']);
  const { id } = (await callers()).find(({ label }) => label === 'sly')!;
  await ask('engine::callers::pause', { id });
  dig('as it was');
  rename('other');
  dig('renamed');
  dig('for a client', { on_behalf_of: { client: { name: 'curl', version: '1' } } });
  send({ type: 'registerfunction', id: 'sly::own' });
  dig('as a worker');
  const waiting = async () => (await callers()).reduce((sum, one) => sum + one.waiting, 0);
  await expect.poll(waiting).toBe(4);
  expect(dug).toEqual(['first']);
  await ask('engine::callers::pause', { id, on: false });
  const all = ['first', 'as it was', 'renamed', 'for a client', 'as a worker'];
  await expect.poll(() => dug).toEqual(all);

  await ask('engine::callers::pause', { id });
  dig('again');
  await expect.poll(waiting).toBe(1);
  const present = (await callers()).find((one) => one.waiting > 0)!;
  expect([present.id === id, present.paused]).toEqual([false, true]);
  await ask('engine::callers::pause', { id: present.id, on: false });
  await expect.poll(() => dug).toEqual([...all, 'again']);
  expect((await callers()).filter(({ paused }) => paused)).toEqual([]);
  sly.close();
});

test('mcp.P13 calls for events wait while the caller that bound them is paused', async () => {
  const binding = { trigger_type: 'engine::workers-available', function_id: 'digger::dig', config: {} };
  const { id } = (await agent.call('engine::register_trigger', binding)) as { id: string };
  await agent.call('digger::dig', { at: 'first' });
  const { id: callerId } = await caller();
  await ask('engine::callers::pause', { id: callerId });
  const arriving = await connect(running.url, { name: 'newcomer' });
  await expect.poll(async () => (await caller()).waiting).toBeGreaterThan(0);
  expect(dug).toEqual(['first']);
  await ask('engine::callers::pause', { id: callerId, on: false });
  await expect.poll(() => dug.length).toBeGreaterThan(1);
  await agent.call('engine::unregister_trigger', { id });
  arriving.close();
});

test('mcp.P13 a waiting call ends with its caller, its timeout, its cancellation and the stop of its caller', async () => {
  await agent.call('digger::dig', { at: 'first' });
  const { id } = await caller();
  await ask('engine::callers::pause', { id });
  expect(await codeOf(agent.call('digger::dig', { at: 'late' }, { timeoutMs: 50 }))).toBe('TIMEOUT');
  await expect.poll(async () => (await caller()).waiting).toBe(0);
  const waiting = codeOf(agent.call('digger::dig', { at: 'waiting' }));
  const stopped = codeOf(agent.call('digger::dig', { at: 'stopped' }));
  await expect.poll(async () => (await caller()).waiting).toBe(2);
  const [row] = (await calls()).running.filter(({ line }) => line === 'waiting');
  await ask('engine::calls::cancel', { id: row!.id });
  expect(await waiting).toBe('CANCELLED');
  expect(await ask('engine::callers::stop', { id })).toEqual({ cancelled: 1 });
  expect(await stopped).toBe('CANCELLED');
  void agent.call('digger::dig', { at: 'gone' }).catch(() => {});
  await expect.poll(async () => (await caller()).waiting).toBe(1);
  agent.close();
  await expect.poll(async () => (await calls()).running).toEqual([]);
  await ask('engine::callers::pause', { id, on: false });
  expect(dug).toEqual(['first']);
  const actions = logged
    .filter(([message]) => message === 'a person acted on calls')
    .map(([, fields]) => fields?.action);
  expect(actions).toEqual(['pause', 'cancel', 'stop', 'resume']);
});

test('mcp.P13 no other caller may stop, pause or cancel, or read the request lines of calls', async () => {
  const stay = agent.call('digger::stay', { at: 'secret place' }).catch(() => {});
  await expect.poll(async () => (await calls()).running.map(({ line }) => line)).toEqual(['secret place']);
  const { id } = await caller();
  const [row] = (await calls()).running;
  for (const [name, request] of [
    ['engine::calls::cancel', { id: row!.id }],
    ['engine::callers::stop', { id }],
    ['engine::callers::pause', { id }],
  ] as const) {
    expect(await codeOf(agent.call(name, request))).toBe('console_only');
    expect(await codeOf(serving.call(name, request))).toBe('console_only');
  }
  expect(JSON.stringify(await agent.call('engine::calls::list'))).not.toContain('secret place');
  expect((await calls()).running).toHaveLength(1);
  await ask('engine::callers::stop', { id });
  await stay;
});

test('mcp.P13 a call that was approved and then waits for its paused caller is not asked about again', async () => {
  const engine = new Engine({ access: { askTimeoutMs: 60_000, decide: () => ({ verdict: 'ask', rule: 'asks: 1' }) } });
  const access = { hasTokens: false, local: 'asks', lookUp: () => ({ problem: 'none' }) };
  const rules = { host: '127.0.0.1', port: 0, operatorKey: 'key', access, log: silentLog };
  const server = await startServer(engine, rules);
  const provider = await connect(engine.dialer(), { name: 'digger' });
  provider.serve({ def: digger, context: {} });
  const asking = await connect(server.url, { name: 'asking' });
  const person = await connect(server.url, { name: 'person', token: 'key' });
  const list = async <Row>(id: string, key: string) => ((await person.call(id)) as Record<string, Row[]>)[key]!;
  const asked = () => list<{ id: string }>('engine::approvals::list', 'approvals');

  try {
    const call = asking.call('digger::dig', { at: 'approved' });
    call.catch(() => {});
    await expect.poll(asked).toHaveLength(1);
    const knownCaller = async () => {
      const callers = await list<KnownCaller>('engine::callers::list', 'callers');
      return callers.find(({ label }) => label === 'asking')!;
    };
    const { id } = await knownCaller();
    await person.call('engine::callers::pause', { id });
    await person.call('engine::approvals::answer', { id: (await asked())[0]!.id, answer: 'approve' });
    await expect.poll(async () => (await knownCaller()).waiting).toBe(1);
    expect(dug).toEqual([]);
    await person.call('engine::callers::pause', { id, on: false });
    expect(await asked()).toEqual([]);
    expect(await call).toBe('done');
    expect(dug).toEqual(['approved']);
  } finally {
    for (const connection of [asking, person, provider]) connection.close();
    await server.close();
  }
});

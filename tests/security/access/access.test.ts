/**
 * Policies of callers, tried from outside: every door with every kind of token and every effect, then the ways around.
 *
 * The expected verdicts are written by hand, not computed by the policies under test.
 */
import { createHash, randomUUID } from 'node:crypto';
import { once, type EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';

import { Access, accessConfig, AuditLog, Auditor, Mask, TokenFile, verifyChain } from '#access';
import { operatorKeyIn, type RunningWorkcell } from '#assembly';
import { connect, type Connection } from '#client';
import { CallError, parseConfig, silentLog } from '#contract';
import { tempDir, type TempDir } from '#testing';
import { startGuarded } from './guarded-cell.ts';
import { Peer } from '../engine/peer-socket.ts';
import { worker as testWorker } from '../../spec/test-worker.ts';

const CONFIG = {
  tokens: [
    { name: 'reader', env: 'READER', policy: 'read-only' },
    { name: 'writer', env: 'WRITER', policy: 'src-only' },
    { name: 'runner', env: 'RUNNER', policy: 'echo-only' },
    { name: 'boss', env: 'BOSS' },
    { name: 'old', env: 'OLD', policy: 'open', expires: '2020-01-01' },
    { name: 'asker', env: 'ASKER', policy: 'asks' },
    { name: 'careful', env: 'CAREFUL', policy: 'asks' },
    { name: 'stale', env: 'STALE', policy: 'nothing' },
  ],
  policies: {
    'src-only': [
      { allow: { effect: 'read' } },
      { allow: { permission: ['fs.read', 'fs.write', 'fs.delete'], paths: ['src/**'] } },
      { deny: { paths: ['src/locked/**'] } },
    ],
    'echo-only': [{ allow: { program: 'echo' } }],
    asks: [{ allow: { effect: 'read' } }, { ask: { permission: 'fs.write' }, reason: 'writes are reviewed' }],
    nothing: [],
  },
  local: 'look',
  ask_timeout_s: 1,
};

const SECRETS = {
  READER: 'planted-reader-secret',
  WRITER: 'planted-writer-secret',
  RUNNER: 'planted-runner-secret',
  BOSS: 'planted-boss-secret',
  OLD: 'planted-old-secret',
  ASKER: 'planted-asker-secret',
  CAREFUL: 'planted-careful-secret',
  STALE: 'planted-stale-secret',
};

/** One call a row: its effect, and the callers that may make it. All others are refused. */
const CALLS: { id: string; payload: object; may: string[] }[] = [
  { id: 'coder::read-file', payload: { path: 'src/a.txt' }, may: ['none', 'reader', 'writer', 'asker', 'boss'] },
  { id: 'coder::search', payload: { query: 'x' }, may: ['none', 'reader', 'asker', 'boss'] },
  {
    id: 'coder::search',
    payload: { query: 'x', path: 'src/free' },
    may: ['none', 'reader', 'writer', 'asker', 'boss'],
  },
  { id: 'coder::read-file', payload: { path: 'src/locked/a.txt' }, may: ['none', 'reader', 'asker', 'boss'] },
  { id: 'coder::create-file', payload: create('src/new.txt'), may: ['writer', 'boss'] },
  { id: 'coder::create-file', payload: create('other/new.txt'), may: ['boss'] },
  { id: 'coder::create-file', payload: create('src/../other/new.txt'), may: ['boss'] },
  { id: 'coder::create-file', payload: create('src/locked/new.txt'), may: ['boss'] },
  { id: 'coder::create-file', payload: create('src/new.txt', 'other/new.txt'), may: ['boss'] },
  { id: 'coder::delete-file', payload: { paths: ['src'], recursive: true }, may: ['boss'] },
  { id: 'filesystem::write', payload: { path: 'other/b.txt', content: 'x' }, may: ['boss'] },
  { id: 'shell::fs::rm', payload: { path: 'other', recursive: true }, may: ['boss'] },
  { id: 'coder::apply-patch', payload: { patch: '*** Begin Patch\n*** End Patch' }, may: ['boss'] },
  { id: 'coder::undo', payload: {}, may: ['boss'] },
  { id: 'shell::exec', payload: { command: 'echo', args: ['hi'] }, may: ['runner', 'boss'] },
  { id: 'shell::exec', payload: { command: 'echo hi' }, may: ['runner', 'boss'] },
  { id: 'shell::exec', payload: { command: '/bin/echo hi' }, may: ['boss'] },
  { id: 'shell::exec', payload: { command: 'ls' }, may: ['boss'] },
  { id: 'shell::exec_bg', payload: { command: 'ls' }, may: ['boss'] },
  { id: 'shell::kill', payload: { job_id: 'none' }, may: ['boss'] },
  { id: 'engine::register_trigger', payload: { trigger_type: 't', function_id: 'shell::exec' }, may: ['boss'] },
  { id: 'engine::callers::stop', payload: { id: 'x' }, may: [] },
  { id: 'engine::approvals::answer', payload: { id: 'x', answer: 'approve' }, may: [] },
  { id: 'engine::calls::get', payload: { id: 'x' }, may: [] },
];

const CREATE_IN_SRC = CALLS.find(({ id }) => id === 'coder::create-file')!;

const CALLERS = ['none', 'wrong', 'reader', 'writer', 'runner', 'boss', 'old', 'asker', 'stale'] as const;
type Caller = (typeof CALLERS)[number];
/** The server does not let them in at all. */
const SHUT_OUT = new Set<Caller>(['wrong', 'old']);

/** Not one that could be guessed: the port slows those down. */
const WRONG = `wct_${'x'.repeat(43)}`;

const secretOf = (caller: Caller): string | undefined =>
  caller === 'none' ? undefined : caller === 'wrong' ? WRONG : SECRETS[caller.toUpperCase() as keyof typeof SECRETS];

function create(...paths: string[]) {
  return { files: paths.map((path) => ({ path, content: 'planted-content', overwrite: true })) };
}

let dir: TempDir;
let cell: RunningWorkcell;
let http: string;
const buses = new Map<Caller, Connection>();

beforeAll(async () => {
  dir = await tempDir({
    'w/src/a.txt': 'x\n',
    'w/src/free/b.txt': 'x\n',
    'w/src/locked/a.txt': 'x\n',
    'w/other/a.txt': 'x\n',
  });
  Object.assign(process.env, SECRETS);
  const shell = { allowlist: ['echo', 'ls', 'sleep'], max_timeout_ms: 600_000 };
  const workers = [{ name: 'coder' }, { name: 'shell', config: shell }, { name: 'filesystem' }, { name: 'agent' }];
  ({ cell } = await startGuarded(dir, { access: CONFIG, workers }));
  http = cell.url.replace(/^ws/, 'http');
  for (const caller of CALLERS) {
    if (!SHUT_OUT.has(caller)) buses.set(caller, await busOf(caller));
  }
}, 60_000);
afterAll(async () => {
  for (const bus of buses.values()) bus.close();
  await cell?.close();
  await dir?.[Symbol.asyncDispose]();
});

function busOf(caller: Caller): Promise<Connection> {
  return connect(cell.url, { name: `test-${caller}`, token: secretOf(caller), log: silentLog });
}

type Verdict = 'may' | 'refused' | 'shut out';

const REFUSALS = new Set(['forbidden', 'console_only', 'operator_only']);

async function overBus(caller: Caller, id: string, payload: object, options = {}): Promise<Verdict> {
  const bus = buses.get(caller);
  if (!bus)
    return await busOf(caller).then(
      () => 'may' as const,
      () => 'shut out' as const,
    );
  try {
    await bus.call(id, payload, options);
    return 'may';
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return REFUSALS.has(error.code) ? 'refused' : 'may';
  }
}

async function post(caller: Caller, path: string, body: unknown, more: Record<string, string> = {}) {
  const secret = secretOf(caller);
  const headers = { 'Content-Type': 'application/json', ...(secret && { Authorization: `Bearer ${secret}` }), ...more };
  const response = await fetch(`${http}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function overHttp(caller: Caller, id: string, payload: object): Promise<Verdict> {
  const { status, text } = await post(caller, `/functions/${id.replaceAll('::', '/')}`, payload);
  if (status === 401) return 'shut out';
  return [...REFUSALS].some((code) => text.includes(`"${code}"`)) ? 'refused' : 'may';
}

/** The function by its id inside `more`, which makes a nested call. */
async function throughMore(caller: Caller, id: string, payload: object): Promise<Verdict> {
  const { status, text } = await post(caller, '/functions/agent/more', { function: id, args: payload });
  if (status === 401) return 'shut out';
  return /may not be called|not approved|for the console only|A224/.test(text) ? 'refused' : 'may';
}

/** A page cannot be claimed in a frame, and neither can wider rights. */
function onBehalf(caller: Caller, id: string, payload: object): Promise<Verdict> {
  const principal = { id: 'page:x', kind: 'page', label: 'boss', client: { name: 'boss', version: '1' }, grants: {} };
  return overBus(caller, id, payload, { caller: principal });
}

const ACCEPT = { Accept: 'application/json, text/event-stream' };
const mcpSessions = new Map<Caller, string>();

/** Posts one message; `session` is that of an earlier `initialize`. */
function rpc(caller: Caller, method: string, params: object, session?: string) {
  const headers = { ...ACCEPT, ...(session !== undefined && { 'Mcp-Session-Id': session }) };
  return post(caller, '/mcp?profile=all', { jsonrpc: '2.0', id: 1, method, params }, headers);
}

async function initialize(caller: Caller): Promise<string | undefined> {
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'boss', version: '1' } };
  const { status, headers } = await rpc(caller, 'initialize', client);
  return status === 401 ? undefined : (headers.get('mcp-session-id') ?? '');
}

async function overMcp(caller: Caller, id: string, payload: object): Promise<Verdict> {
  const session = mcpSessions.get(caller) ?? (await initialize(caller));
  if (session === undefined) return 'shut out';
  mcpSessions.set(caller, session);
  const name = id.replaceAll('::', '_').replaceAll('-', '_');
  const { text } = await rpc(caller, 'tools/call', { name, arguments: payload }, session);
  return /may not be called|not approved|no tool|not found|Unknown tool|for the console only/i.test(text)
    ? 'refused'
    : 'may';
}

const DOORS = { bus: overBus, http: overHttp, mcp: overMcp, 'on behalf': onBehalf, more: throughMore };
/** `more` runs something: a caller that may not run may not use it, whatever it would call. */
const MAY_USE_MORE = new Set<Caller>(['boss']);

/** Doors for models do not offer functions of the engine. */
function isOffered(door: keyof typeof DOORS, id: string): boolean {
  return !(id.startsWith('engine::') && (door === 'mcp' || door === 'more'));
}

function expected(door: keyof typeof DOORS, caller: Caller, { id, may }: (typeof CALLS)[number]): Verdict {
  if (SHUT_OUT.has(caller)) return 'shut out';
  if (!isOffered(door, id)) return 'refused';
  if (door === 'more' && !MAY_USE_MORE.has(caller)) return 'refused';
  return may.includes(caller) ? 'may' : 'refused';
}

describe('every door, every token, every effect', () => {
  let count = 0;
  test.each(Object.keys(DOORS) as (keyof typeof DOORS)[])(
    'over %s',
    async (door) => {
      const wrong: string[] = [];
      for (const caller of CALLERS) {
        for (const call of CALLS) {
          const { id, payload, may } = call;
          // An asked call waits for a second before it is denied.
          if (caller === 'asker' && !may.includes(caller) && (door === 'mcp' || call !== CREATE_IN_SRC)) continue;
          const verdict = await DOORS[door](caller, id, payload);
          count += 1;
          const right = expected(door, caller, call);
          if (verdict !== right) wrong.push(`${caller} ${id} ${JSON.stringify(payload)}: ${verdict}, not ${right}`);
          // Restores the files that an allowed call removed.
          mkdirSync(dir.path('w/other'), { recursive: true });
          mkdirSync(dir.path('w/src/locked'), { recursive: true });
          mkdirSync(dir.path('w/src/free'), { recursive: true });
          for (const file of ['src/a.txt', 'src/locked/a.txt', 'other/a.txt'])
            writeFileSync(dir.path(`w/${file}`), 'x\n');
        }
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  test('at least 500 combinations were tried', () => expect(count).toBeGreaterThanOrEqual(500));
});

test('a refused write changed nothing', async () => {
  for (const caller of ['none', 'reader', 'writer', 'runner', 'stale'] as const) {
    await overBus(caller, 'coder::create-file', create('other/planted.txt'));
  }
  expect(existsSync(dir.path('w/other/planted.txt'))).toBe(false);
});

describe('deputies', () => {
  test('a caller with a policy offers no functions, so it cannot pose as a worker', async () => {
    const { socket, sent } = await peer('reader');
    socket.send(JSON.stringify({ type: 'registerfunction', id: 'evil::read', description: '' }));
    await sent('registrationrejected');
    socket.close();
    await expect(buses.get('boss')!.call('evil::read', {})).rejects.toMatchObject({ code: 'function_not_found' });
  });

  test('a caller binds no trigger to a function that it may not call', async () => {
    const { socket, sent } = await peer('reader');
    const trigger = { id: 't1', trigger_type: 'engine::workers-available', function_id: 'shell::exec', config: {} };
    socket.send(JSON.stringify({ type: 'registertrigger', ...trigger }));
    expect(JSON.stringify(await sent('triggerregistrationresult'))).toContain('forbidden');
    socket.close();
  });

  test('a caller with a policy binds no trigger by another namespace, nor to a function that is not served yet', async () => {
    const clock = await peer('boss');
    clock.socket.send(JSON.stringify({ type: 'registertriggertype', id: 'clock', description: '' }));
    for (const function_id of ['later::run', 'coder::read-file']) {
      const { socket, frames } = await peer('reader');
      const trigger = { type: 'registertrigger', trigger_type: 'clock', function_id, config: {} };
      socket.send(JSON.stringify({ ...trigger, id: `elsewhere ${function_id}`, namespace: 'lab' }));
      socket.send(JSON.stringify({ ...trigger, id: `here ${function_id}` }));
      socket.send(
        JSON.stringify({
          type: 'invokefunction',
          invocation_id: 'after',
          function_id: 'engine::workers::list',
          data: {},
        }),
      );
      await expect.poll(() => frames.some(({ type }) => type === 'invocationresult')).toBe(true);
      const refused = frames.filter(({ type }) => type === 'triggerregistrationresult').map(({ id }) => id);
      const here = function_id === 'later::run' ? [`here ${function_id}`] : [];
      expect(refused).toEqual([`elsewhere ${function_id}`, ...here]);
      socket.close();
    }
    const bound = clock.frames.filter(({ type }) => type === 'registertrigger').map(({ id }) => id);
    expect(bound).toEqual(['here coder::read-file']);
    clock.socket.close();
  });

  test('an event of the engine has the rights of the principal that bound its trigger', async () => {
    const worker = await peer('boss');
    const [id, reads] = ['seen::workers', { effect: 'read', permissions: ['fs.read'] }];
    const offer = (metadata: object) => {
      worker.socket.send(JSON.stringify({ type: 'unregisterfunction', id }));
      worker.socket.send(JSON.stringify({ type: 'registerfunction', id, metadata }));
    };
    const events = () => worker.frames.filter(({ type }) => type === 'invokefunction').length;
    offer(reads);
    const info = () => buses.get('boss')!.call('engine::functions::info', { function_id: id });
    await expect.poll(info).toMatchObject({ metadata: reads });
    const binder = await peer('reader');
    const trigger = { id: 't2', trigger_type: 'engine::workers-available', function_id: id, config: {} };
    binder.socket.send(JSON.stringify({ type: 'registertrigger', ...trigger }));
    await expect
      .poll(async () => {
        (await peer('boss')).socket.close();
        return events();
      })
      .toBeGreaterThan(0);

    const runs = { effect: 'execute', permissions: ['process.run'] };
    offer(runs);
    // A call that came before the offer would wait for the worker, which does not answer.
    await expect.poll(info).toMatchObject({ metadata: runs });
    expect(await overBus('reader', id, {})).toBe('refused');
    const before = events();
    for (let n = 0; n < 5; n++) (await peer('boss')).socket.close();
    await buses.get('boss')!.call('engine::workers::list', {});
    expect(events()).toBe(before);
    for (const { socket } of [worker, binder]) socket.close();
  });

  test('a worker that makes a call for a caller gets no more than that caller may', async () => {
    const deputy = await peer('boss');
    const metadata = { effect: 'read', permissions: ['fs.read'] };
    deputy.socket.send(JSON.stringify({ type: 'registerfunction', id: 'deputy::read', metadata }));
    deputy.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as { type: string; invocation_id: string; function_id: string };
      if (frame.type === 'invokefunction') {
        const nested = {
          function_id: 'coder::create-file',
          data: create('other/nested.txt'),
          via: frame.invocation_id,
        };
        deputy.socket.send(JSON.stringify({ type: 'invokefunction', invocation_id: 'nested', ...nested }));
        deputy.sent('invocationresult').then(
          ({ error }) =>
            deputy.socket.send(
              JSON.stringify({
                ...{ type: 'invocationresult', invocation_id: frame.invocation_id, function_id: frame.function_id },
                result: error ?? 'made',
              }),
            ),
          () => {},
        );
      }
    });
    const read = () => buses.get('reader')!.call('deputy::read', {});
    await expect.poll(read).toMatchObject({ code: 'forbidden' });
    deputy.socket.close();
    expect(existsSync(dir.path('w/other/nested.txt'))).toBe(false);
  });

  test('a function that no list shows is decided about like any other when it is called by its id', async () => {
    const owner = await peer('boss');
    const metadata = { internal: true, effect: 'execute', permissions: ['process.run'] };
    owner.socket.send(JSON.stringify({ type: 'registerfunction', id: 'hidden::run', metadata }));
    await expect.poll(() => overBus('reader', 'hidden::run', {})).toBe('refused');
    await expect(buses.get('reader')!.call('hidden::run', {})).rejects.toMatchObject({ code: 'forbidden' });
    expect(await overHttp('reader', 'hidden::run', {})).toBe('refused');
    expect(await overMcp('reader', 'hidden::run', {})).toBe('refused');
    expect(owner.frames.some(({ type }) => type === 'invokefunction')).toBe(false);
    owner.socket.close();
  });

  test('the session of another is not taken over by its id, and its rights are not lent', async () => {
    const boss = await peer('boss');
    const thief = await peer('reader');
    const { worker_id } = await boss.sent('workerregistered');
    for (const reattach_token of [undefined, null, '', worker_id]) {
      thief.socket.send(JSON.stringify({ type: 'reattach', previous_worker_id: worker_id, reattach_token }));
    }
    const call = { function_id: 'coder::create-file', data: create('other/thief.txt') };
    thief.socket.send(JSON.stringify({ type: 'invokefunction', invocation_id: 'stolen', ...call }));
    expect(JSON.stringify(await thief.sent('invocationresult'))).toContain('forbidden');
    expect(boss.socket.readyState).toBe(WebSocket.OPEN);
    for (const { socket } of [boss, thief]) socket.close();
    expect(existsSync(dir.path('w/other/thief.txt'))).toBe(false);
  });

  test('a caller reattaches its own session with the rights of the new connection', async () => {
    const boss = await peer('boss');
    const { worker_id, reattach_token } = await boss.sent('workerregistered');
    const reader = await peer('reader');
    reader.socket.send(JSON.stringify({ type: 'reattach', previous_worker_id: worker_id, reattach_token }));
    const call = { function_id: 'coder::create-file', data: create('other/reattached.txt') };
    reader.socket.send(JSON.stringify({ type: 'invokefunction', invocation_id: 'mine', ...call }));
    expect(JSON.stringify(await reader.sent('invocationresult'))).toContain('forbidden');
    reader.socket.close();
    expect(existsSync(dir.path('w/other/reattached.txt'))).toBe(false);
  });

  test('a channel opens only with its own key, for its own direction', async () => {
    const make = (caller: Caller) =>
      buses.get(caller)!.call('engine::channels::create', {}) as Promise<{
        reader: { channel_id: string; access_key: string };
      }>;
    const [mine, theirs] = [await make('reader'), await make('boss')];
    const open = (id: string, key: string) =>
      new Promise<string>((resolve) => {
        const secret = { Authorization: `Bearer ${SECRETS.READER}` };
        const socket = new WebSocket(`${cell.url}/ws/channels/${id}?key=${key}&dir=read`, { headers: secret });
        socket.on('open', () => resolve('open')).on('error', ({ message }) => resolve(message));
      });
    expect(await open(theirs.reader.channel_id, mine.reader.access_key)).toContain('404');
    expect(await open(theirs.reader.channel_id, '')).toContain('404');
    expect(await open(mine.reader.channel_id, mine.reader.access_key)).toBe('open');
  });

  test('a session of MCP that another token opened does not lend its rights', async () => {
    const params = { name: 'coder_create_file', arguments: create('other/stolen.txt') };
    const stolen = await rpc('reader', 'tools/call', params, await initialize('boss'));
    expect(stolen.status).toBeGreaterThanOrEqual(400);
    expect(existsSync(dir.path('w/other/stolen.txt'))).toBe(false);
  });

  test.each<Record<string, string>>([
    { 'X-Workcell-Policy': 'open' },
    { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1' },
    { Authorization: 'Bearer planted-reader-secret, Bearer planted-boss-secret' },
    { 'Sec-WebSocket-Protocol': `bearer.${Buffer.from('planted-boss-secret').toString('base64url')}x` },
    { Origin: '' },
  ])('a header does not widen rights: %j', async (more) => {
    const { status } = await post('reader', '/functions/coder/create-file', create('other/smuggled.txt'), more);
    expect(existsSync(dir.path('w/other/smuggled.txt'))).toBe(false);
    expect(status).toBeGreaterThanOrEqual(400);
  });

  test('a rule file that an agent writes into the workspace decides nothing', async () => {
    await overBus('boss', 'coder::create-file', create('src/x.txt'));
    writeFileSync(dir.path('w/config.yaml'), 'access: { local: open }\nworkers: []\n');
    expect(await overBus('none', 'coder::create-file', create('other/n.txt'))).toBe('refused');
  });
});

/** A bare socket, for frames that a client would not send. */
async function peer(caller: Caller, more: Record<string, string> = {}, url = cell.url) {
  const secret = secretOf(caller);
  const socket = new WebSocket(url, {
    headers: { ...(secret !== undefined && { Authorization: `Bearer ${secret}` }), ...more },
  });
  const frames: Record<string, unknown>[] = [];
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Record<string, unknown>));
  await once(socket, 'open');
  const sent = async (type: string) => {
    await expect.poll(() => frames.map((one) => one.type)).toContain(type);
    return frames.find((one) => one.type === type)!;
  };
  return { socket, sent, frames };
}

describe('asking a person', () => {
  /** Waits for an answer until it gets one, where the other server stops waiting after a second. */
  let patient: RunningWorkcell;
  let asker: Connection;
  beforeAll(async () => {
    const access = { ...CONFIG, ask_timeout_s: 600 };
    ({ cell: patient } = await startGuarded(dir, { access, workers: [{ name: 'coder' }], state: 'patient' }));
    asker = await connect(patient.url, { name: 'asker', token: SECRETS.ASKER, log: silentLog });
  });
  afterAll(async () => {
    asker?.close();
    await patient?.close();
  });

  const operator = () =>
    connect(patient.url, { name: 'cli', token: operatorKeyIn(dir.path('patient')), log: silentLog });
  const Asked = z.object({
    approvals: z.array(z.object({ id: z.string(), function_id: z.string(), line: z.string().nullable() })),
  });

  /** `made`, or why not. */
  const writtenBy = (bus: Connection, path: string): Promise<string> =>
    bus.call('coder::create-file', create(path)).then(
      () => 'made',
      (error: unknown) => (error as CallError).message,
    );

  const waiting = async (person: Connection): Promise<string[]> =>
    Asked.parse(await person.call('engine::approvals::list', {})).approvals.map(({ id }) => id);

  /** The id of the one call that waits. */
  async function waitingFor(person: Connection): Promise<string> {
    await expect.poll(() => waiting(person)).toHaveLength(1);
    return (await waiting(person))[0]!;
  }

  async function answered(answer: string, path: string): Promise<string> {
    const person = await operator();
    const outcome = writtenBy(asker, path);
    await person.call('engine::approvals::answer', { id: await waitingFor(person), answer });
    person.close();
    return outcome;
  }

  test('a call waits for its answer, and only a person gives it', async () => {
    const outcome = writtenBy(buses.get('asker')!, 'src/asked.txt');
    expect(await overBus('asker', 'engine::approvals::list', {})).toBe('refused');
    expect(await overBus('boss', 'engine::approvals::list', {})).toBe('refused');
    expect(await outcome).toContain('was not approved: no answer within 1 s');
    expect(existsSync(dir.path('w/src/asked.txt'))).toBe(false);
  });

  test('an agent that claims to be a console page approves nothing', async () => {
    const person = await operator();
    for (const answer of ['approve', 'always']) {
      const outcome = writtenBy(asker, `src/self-${answer}.txt`);
      const id = await waitingFor(person);
      for (const claimant of ['none', 'asker', 'boss'] as const) {
        const { socket, sent } = await peer(claimant, { Origin: patient.url.replace(/^ws/, 'http') }, patient.url);
        const frame = { type: 'invokefunction', invocation_id: randomUUID(), data: { id, answer } };
        socket.send(JSON.stringify({ ...frame, function_id: 'engine::approvals::answer' }));
        const reply = await sent('invocationresult');
        expect(reply).toMatchObject({ error: { code: claimant === 'boss' ? 'operator_only' : 'forbidden' } });
        socket.close();
      }
      await person.call('engine::approvals::answer', { id, answer: 'deny' });
      expect(await outcome).toContain('said no');
    }
    person.close();
  });

  test('denied, approved, and approved for the rest of the session', async () => {
    expect(await answered('deny', 'src/denied.txt')).toContain('said no');
    expect(existsSync(dir.path('w/src/denied.txt'))).toBe(false);
    expect(await answered('approve', 'src/approved.txt')).toBe('made');
    expect(await answered('always', 'src/always.txt')).toBe('made');
    await asker.call('coder::create-file', create('src/again.txt'));
    for (const name of ['approved', 'always', 'again']) expect(existsSync(dir.path(`w/src/${name}.txt`))).toBe(true);
  });

  test('a call that waits ends with its caller', async () => {
    const person = await operator();
    const leaver = await connect(patient.url, { name: 'leaver', token: SECRETS.CAREFUL, log: silentLog });
    void leaver.call('coder::create-file', create('src/left.txt')).catch(() => undefined);
    await waitingFor(person);
    leaver.close();
    await expect.poll(() => waiting(person)).toEqual([]);
    person.close();
  });
});

interface AuditedRow {
  function?: string;
  caller?: string;
  changes?: { path: string; before?: { version?: string }; after?: { version?: string } }[];
}

describe('the audit', () => {
  test('has every change and refusal, verifies, and holds no secret', async () => {
    const boss = buses.get('boss')!;
    await boss.call('shell::exec', { command: 'echo', args: ['planted-boss-secret'] });
    await boss.call('coder::create-file', create('src/audited.txt'));
    await boss.call('coder::update-file', {
      files: [{ path: 'src/audited.txt', ops: [{ op: 'replace', pattern: 'planted', replacement: 'changed' }] }],
    });
    const named = 'src/planted-boss-secret.txt';
    await boss.call('shell::fs::mv', { src: dir.path('w/src/audited.txt'), dst: dir.path(`w/${named}`) });
    await boss.call('coder::delete-file', { paths: [named] });
    const folder = join(dir.path('state'), 'audit', '1');
    const { records, fault } = await verifyChain(folder);
    expect(fault).toBeUndefined();
    expect(records).toBeGreaterThan(300);
    const text = readFileSync(join(folder, 'current.jsonl'), 'utf8');
    expect(text.includes('"verdict":"deny"')).toBe(true);
    expect(text.includes('planted-content')).toBe(false);
    expect(Object.values(SECRETS).filter((secret) => text.includes(secret))).toEqual([]);

    const all = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditedRow);
    const last = (id: string) => all.findLast((record) => record.function === id && record.caller?.includes('boss'))!;
    expect(last('shell::exec')).toMatchObject({ outcome: 'ok', exit_code: 0, duration_ms: expect.any(Number) });
    const made = last('coder::create-file').changes![0]!;
    const edited = last('coder::update-file').changes![0]!;
    const version = (content: string) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
    expect(made).toMatchObject({ path: 'src/audited.txt', kind: 'created' });
    expect(made.after!.version).toBe(version('planted-content'));
    expect([edited.before!.version, edited.after!.version]).toEqual([
      version('planted-content'),
      version('changed-content'),
    ]);
    expect(last('shell::fs::mv').changes![0]).toMatchObject({ path: 'src/***.txt', from: 'src/audited.txt' });
    expect(last('coder::delete-file').changes![0]).toMatchObject({ path: 'src/***.txt', kind: 'deleted' });
    expect(statSync(join(folder, 'current.jsonl')).mode & 0o077).toBe(0);
  });

  test('a full disk stops the audit, not the calls', async () => {
    const log = AuditLog.open(dir.path('elsewhere'), { maxBytes: 1_000, keep: 1 });
    const complaints: string[] = [];
    const auditor = new Auditor(log, {
      mask: new Mask({}),
      log: { ...silentLog, error: (message: string) => void complaints.push(message) },
    });
    log.close();
    const principal = { id: 'local:x', kind: 'local', label: 'x' } as const;
    auditor.record({ id: '1', functionId: 'a::b', namespace: 'default', principal, arguments: {}, outcome: 'ok' });
    await setImmediate();
    expect(complaints).toHaveLength(1);
  });
});

const offering = testWorker.withFunctions([
  testWorker.defineFunction({
    ...{ id: 'offering::nothing', summary: 'Nothing.', effect: 'read', permissions: [], errors: ['D1'] },
    ...{ request: z.object({}), response: z.unknown(), examples: [{}], handle: () => 'nothing' },
  }),
]);

test.each([
  ['a client', false],
  ['a worker', true],
])('a token of %s that is removed is refused at once, and its calls, jobs and triggers end', async (_, isWorker) => {
  const file = new TokenFile(dir.path('state'));
  const secret = file.add({ name: 'guest' });
  const guest = await connect(cell.url, { name: 'guest', token: secret, log: silentLog });
  if (isWorker) guest.serve({ def: offering, context: {} });
  const bind = (bus: Connection) =>
    bus.call('engine::register_trigger', { trigger_type: 'never', function_id: 'coder::tree' }) as Promise<{
      id: string;
    }>;
  const [theirs, ours] = [await bind(guest), await bind(buses.get('boss')!)];
  const boss = buses.get('boss')!;
  const Started = z.object({ job_id: z.string() });
  const jobOf = async (bus: Connection) =>
    Started.parse(await bus.call('shell::exec_bg', { command: 'sleep 600', timeout_ms: 600_000 })).job_id;
  const Job = z.object({ job: z.object({ status: z.string() }) });
  const statusOf = async (job_id: string) => Job.parse(await boss.call('shell::status', { job_id })).job.status;
  const [left, others] = [await jobOf(guest), await jobOf(boss)];
  const sleeping = guest.call('shell::exec', { command: 'sleep 600', timeout_ms: 600_000 }, { timeoutMs: 600_000 });
  // Its connection tries again until it is closed.
  const ended = sleeping.catch((error: unknown) => error);
  const Callers = z.object({ callers: z.array(z.object({ label: z.string() })) });
  const Listed = z.object({ running: z.array(z.object({ principal: z.object({ id: z.string() }) })) });
  const isRunning = async () => {
    const { running } = Listed.parse(await boss.call('engine::calls::list', {}));
    return running.some(({ principal }) => principal.id.startsWith('token:guest'));
  };
  await expect.poll(isRunning).toBe(true);
  expect(await statusOf(left)).toBe('running');

  file.remove('guest');
  const answer = await fetch(`${http}/functions/coder/read-file`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` },
    body: '{"path":"src/a.txt"}',
  });
  expect(answer.status).toBe(401);
  await expect.poll(isRunning).toBe(false);
  await expect.poll(() => statusOf(left)).toBe('killed');
  expect(await statusOf(others)).toBe('running');
  // No agent did that: the reads are not listed, and no caller that one could pause.
  const Ended = z.object({ ended: z.array(z.object({ function_id: z.string(), caller: z.string() })) });
  const { ended: calls } = Ended.parse(await boss.call('engine::calls::list', {}));
  const removing = calls.filter(({ caller }) => caller === 'removed token');
  expect(new Set(removing.map((call) => call.function_id))).toEqual(new Set(['shell::kill']));
  const { callers } = Callers.parse(await boss.call('engine::callers::list', {}));
  expect(callers.filter(({ label }) => label === 'removed token')).toEqual([]);
  const Bound = z.object({ registered_triggers: z.array(z.object({ id: z.string() })) });
  const bound = Bound.parse(await boss.call('engine::registered-triggers::list', {})).registered_triggers;
  expect([theirs, ours].map(({ id }) => bound.some((one) => one.id === id))).toEqual([false, true]);
  await boss.call('engine::unregister_trigger', { id: ours.id });
  await boss.call('shell::kill', { job_id: others });
  guest.close();
  expect(await ended).toBeInstanceOf(CallError);
});

test('a removed token binds and calls nothing more on a connection that ignores its close', async () => {
  const file = new TokenFile(dir.path('state'));
  const secret = file.add({ name: 'stubborn' });
  const as = (token: string) => Peer.dial(cell.url, { headers: { Authorization: `Bearer ${token}` } });
  using worker = await as(SECRETS.BOSS);
  using stubborn = await as(secret);
  await worker.register('late::run');
  // The part of ws that answers a close.
  const { _receiver: receiver } = stubborn.socket as unknown as { _receiver: EventEmitter };
  receiver.removeAllListeners('conclude');
  const closing = once(receiver, 'conclude');

  file.remove('stubborn');
  await closing;
  const binding = { trigger_type: 'never', function_id: 'late::run', config: {} };
  stubborn.send({ type: 'invokefunction', function_id: 'engine::register_trigger', data: binding });
  stubborn.send({ type: 'registertrigger', id: 'late', ...binding });
  stubborn.send({ type: 'registerfunction', id: 'late::own' });
  stubborn.send({ type: 'invokefunction', function_id: 'late::run', data: {} });
  stubborn.raw.end();
  await stubborn.closed;
  await worker.settled();
  expect(worker.frames).toEqual([]);
  const lists = ['engine::registered-triggers::list', 'engine::functions::list'];
  const listed = await Promise.all(lists.map((id) => buses.get('boss')!.call(id, {})));
  expect(JSON.stringify(listed)).not.toMatch(/"trigger_type":"never"|late::own/);
});

test.runIf(process.platform === 'linux')(
  'access.P3 guessing is slowed, and locks out no token that is in use',
  async () => {
    const file = new TokenFile(dir.path('state'));
    const made = file.add({ name: 'made', policy: 'look' });
    const path = '/functions/coder/read-file';
    const status = (token: string, from: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
        request(`${http}${path}`, { method: 'POST', localAddress: from, headers, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end('{"path":"src/a.txt"}');
      });
    expect(await status(SECRETS.READER, '127.0.0.9')).toBe(200);
    const guesses = Array.from({ length: 120 }, (_, at) => status(`guess-${at}`, '127.0.0.9'));
    await Promise.all(guesses.slice(0, 10));
    const refused = guesses.map((guess) => guess.then((given) => given === 429));
    expect(await status(SECRETS.READER, '127.0.0.9')).toBe(200);
    expect(await status(made, '127.0.0.9')).toBe(200);
    expect(await status('guess', '127.0.0.10')).toBe(401);
    expect((await Promise.all(refused)).some(Boolean)).toBe(true);
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401, 429]));
    file.remove('made');
  },
);

test('a changed configuration takes effect at once, for open connections too, and a broken one does not', async () => {
  const config = (rules: object[], policy = 'p') =>
    JSON.stringify({
      access: { tokens: [{ name: 't', env: 'BOSS', policy }], policies: { p: rules, q: [] }, local: 'p' },
      workers: [],
    });
  const read = [{ allow: { effect: 'read' } }];
  const { access } = JSON.parse(config(read)) as { access: object };
  const { cell: server, guard } = await startGuarded(dir, { access, workers: [{ name: 'coder' }], state: 'reload' });
  const local = await connect(server.url, { name: 'local', log: silentLog });
  const token = await connect(server.url, { name: 'token', token: SECRETS.BOSS, log: silentLog });
  const made = (bus: Connection) => bus.call('coder::create-file', create('src/reloaded.txt'));
  await expect(made(local)).rejects.toMatchObject({ code: 'forbidden' });

  guard.prepare(config([...read, { allow: { permission: 'fs.write' } }]))();
  await made(local);
  await made(token);
  expect(() => guard.prepare(config([{ allow: { effect: 'reed' } }]))).toThrow('access.policies.p[0]');
  await made(local);

  guard.prepare(config(read, 'q'))();
  await expect(made(local)).rejects.toMatchObject({ code: 'forbidden' });
  const reading = () => token.call('coder::read-file', { path: 'src/a.txt' }).catch(() => 'refused');
  await expect.poll(reading).toBe('refused');
  for (const bus of [local, token]) bus.close();
  await server.close();
});

test('a policy that is gone denies', () => {
  const config = parseConfig(accessConfig, {}, 'access');
  const access = new Access({ config, workspace: '/', find: () => undefined });
  expect(access.decide('gone', { id: 'a::b', namespace: 'default' }, {}).verdict).toBe('deny');
});

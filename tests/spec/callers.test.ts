/** The caller of a call: through every door, with two clients at once, and in the calls that a worker makes for it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { connect, type Connection } from '#client';
import { silentLog } from '#contract';
import { mcpClient, tester, type WhoReply } from '#testing';
import { startWorkcell, type RunningWorkcell } from '../../src/assembly/workcell.ts';

const TOKENS = { ci: 'secret of ci', lab: 'secret of the lab' };
type TokenName = keyof typeof TOKENS;
const bearer = (token: TokenName) => ({ Authorization: `Bearer ${TOKENS[token]}` });

let open: RunningWorkcell;
let closed: RunningWorkcell;
/** The same worker as a remote peer, as the engine sees it. */
let far: Connection;
beforeAll(async () => {
  const entries = [{ def: tester, config: {} }];
  const listening = { host: '127.0.0.1', port: 0, entries, log: silentLog };
  open = await startWorkcell(listening);
  closed = await startWorkcell({ ...listening, tokens: TOKENS });
  far = await connect(open.url, { name: 'far', namespace: 'far' });
  far.serve({ def: tester, context: {} });
  await far.call('engine::workers::list');
});
afterAll(async () => {
  far.close();
  await open.close();
  await closed.close();
});

async function post(url: string, path: string, body: object, headers: Record<string, string>): Promise<WhoReply> {
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  return (await fetch(`${url.replace('ws', 'http')}/functions/tester/${path}`, init)).json() as Promise<WhoReply>;
}

async function askMcp(url: string, name: string, headers?: Record<string, string>): Promise<WhoReply> {
  const client = await mcpClient(url, { name, version: '1.2' }, headers);
  return JSON.parse(await client.call('tester_who')) as WhoReply;
}

async function askBus(url: string, name: string, token?: string): Promise<WhoReply> {
  const bus = await connect(url, { name, token, version: '0.1' });
  const reported = (await bus.call('tester::who')) as WhoReply;
  bus.close();
  return reported;
}

/** As engine::calls::list names them, oldest first. */
async function callersOf(url: string, id: string, token?: string): Promise<unknown[]> {
  const bus = await connect(url, { name: 'watcher', token });
  const { ended } = (await bus.call('engine::calls::list')) as {
    ended: { function_id: string; caller: string; principal: { kind: string }; id: string; via: string | null }[];
  };
  bus.close();
  return ended.filter(({ function_id }) => function_id === id).map(({ caller, principal }) => [principal.kind, caller]);
}

test('bus.P16 two clients at once at every door, each by its name, and none as the door', async () => {
  const { url } = open;
  const before = (await callersOf(url, 'tester::who')).length;
  const reported = await Promise.all([
    askMcp(url, 'claude-code'),
    askMcp(url, 'cursor'),
    post(url, 'who', {}, { 'User-Agent': 'curl/8.5.0' }),
    post(url, 'who', {}, { 'User-Agent': 'python-requests/2.31' }),
    askBus(url, 'alice'),
    askBus(url, 'bob'),
  ]);
  const [claude, cursor, curl, requests, alice, bob] = reported.map(({ principal }) => principal);
  expect([claude, cursor].map((one) => [one?.kind, one?.client])).toEqual([
    ['local', { name: 'claude-code', version: '1.2' }],
    ['local', { name: 'cursor', version: '1.2' }],
  ]);
  expect(claude?.label).toMatch(/^claude-code #\d+$/);
  expect(cursor?.label).toMatch(/^cursor #\d+$/);
  expect(claude?.id).not.toBe(cursor?.id);
  expect(curl).toEqual({
    id: 'local:http',
    kind: 'local',
    label: 'curl (http)',
    client: { name: 'curl', version: '8.5.0' },
  });
  expect(requests?.label).toBe('python-requests (http)');
  expect([alice?.kind, alice?.label, bob?.kind, bob?.label]).toEqual(['local', 'alice', 'local', 'bob']);

  const listed = (await callersOf(url, 'tester::who')).slice(before);
  expect(new Set(listed.map(String))).toEqual(new Set(reported.map(({ principal }) => `local,${principal!.label}`)));
});

describe('with tokens', () => {
  test('bus.P16 lists and handlers name the token, whatever the client calls itself', async () => {
    const { url } = closed;
    const reported = await Promise.all(
      (['ci', 'lab'] as const).flatMap((name) => [
        askMcp(url, 'claude-code', bearer(name)),
        post(url, 'who', {}, { ...bearer(name), 'User-Agent': 'curl/8' }),
        askBus(url, 'alice', TOKENS[name]),
      ]),
    );
    const shown = reported.map(({ principal }) => `${principal?.kind} ${principal?.id} ${principal?.label}`);
    expect(shown.map((line) => line.replaceAll(/#\d+/g, '#n'))).toEqual(
      ['ci', 'lab'].flatMap((name) => [
        `token token:${name}#n claude-code #n (${name})`,
        `token token:${name} curl (${name})`,
        `token token:${name} alice (${name})`,
      ]),
    );
    const kinds = (await callersOf(url, 'tester::who', TOKENS.ci)).map((row) => (row as string[])[0]);
    expect(new Set(kinds)).toEqual(new Set(['token']));
  });

  test('an MCP session is open only to the caller that began it', async () => {
    const mine = await mcpClient(closed.url, { name: 'mine', version: '1' }, bearer('ci'));
    const other = await mcpClient(closed.url, { name: 'other', version: '1' }, bearer('lab'));
    expect(await other.call('tester_who', {}, { headers: { 'mcp-session-id': mine.session } })).toMatch(/^404 /);
    expect(JSON.parse(await mine.call('tester_who'))).toMatchObject({ principal: { client: { name: 'mine' } } });
  });
});

describe.each([
  ['in this process', undefined],
  ['on a socket', 'far'],
])('a worker %s', (_, namespace) => {
  const query = namespace === undefined ? '' : `?namespace=${namespace}`;
  const ask = (more: object) => ({ id: 'tester::ask', namespace, payload: { id: 'tester::who', namespace, ...more } });

  test('bus.P16 makes calls as its caller, each with the principal and its parent call', async () => {
    const reported = await post(open.url, `ask${query}`, ask({}), { 'User-Agent': 'curl/8.5.0' });
    expect(reported.principal).toMatchObject({ id: 'local:http', kind: 'local', label: 'curl (http)' });

    const bus = await connect(open.url, { name: 'watcher' });
    const { ended } = (await bus.call('engine::calls::list')) as { ended: { id: string; via: string | null }[] };
    bus.close();
    const [outer, middle, inner] = ended.slice(-3).toReversed();
    expect([outer?.via, middle?.via, inner?.via]).toEqual([null, outer?.id, middle?.id]);
    expect(reported.via).toBe(middle?.id);
  });

  test('hands on the trace and the metadata', async () => {
    const bus = await connect(open.url, { name: 'tracer' });
    const options = { namespace, metadata: { tenant: 'acme' }, traceparent: '00-trace', baggage: 'user=1' };
    expect(await bus.call('tester::ask', ask({}), options)).toMatchObject({
      metadata: { tenant: 'acme' },
      traceparent: '00-trace',
      baggage: 'user=1',
      principal: { label: 'tracer' },
    });
    bus.close();
  });
});

test('a program in this process is the operator, and a worker that calls by itself is a worker', async () => {
  const bus = await connect(open.engine.dialer(), { name: 'workcell:program' });
  expect(await bus.call('tester::who')).toMatchObject({ principal: { kind: 'operator', label: 'workcell:program' } });
  bus.close();
  expect(await far.call('tester::who')).toMatchObject({ principal: { kind: 'worker', label: 'far' } });
});

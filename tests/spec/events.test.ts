/** Events of a call while it runs, through every door, and to no caller that did not ask. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as passed } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { connect, type Connection } from '#client';
import { silentLog, type CallEvent } from '#contract';
import { tester, withEnoughTime } from '#testing';
import { startWorkcell, type RunningWorkcell } from '../../src/assembly/workcell.ts';
import { runCli } from '../../src/testing/cli.ts';
import { httpTransport, openClient, revisions } from '../e2e/support/mcp.ts';
import { Peer, type AnyFrame } from '../security/engine/peer-socket.ts';

const COUNTED = [1, 2, 3].map((at) => ({ type: 'count', message: `at ${at}`, at }));

let cell: RunningWorkcell;
/** The same worker as a remote peer, as the engine sees it. */
let far: Connection;
let near: Connection;
beforeAll(async () => {
  cell = await startWorkcell({
    ...{ host: '127.0.0.1', port: 0, log: silentLog },
    entries: [{ def: tester, config: {} }],
  });
  far = await connect(cell.url, { name: 'far', namespace: 'far' });
  far.serve({ def: tester, context: {} });
  near = await connect(cell.engine.dialer(), { name: 'near' });
  await far.call('engine::workers::list');
});
afterAll(async () => {
  far.close();
  near.close();
  await cell.close();
});

describe.each(['default', 'far'])('bus.P20 a worker in namespace %s', (namespace) => {
  test('on the bus: each event in order, then the answer', async () => {
    const heard: CallEvent[] = [];
    const options = { namespace, onEvent: (event: CallEvent) => heard.push(event) };
    expect(await near.call('tester::count', { to: 3 }, options)).toEqual({ counted: 3 });
    expect(heard).toEqual(COUNTED);
  });

  test('as an async iterable, with the result beside it', async () => {
    const client = await connect(cell.url, { name: 'iterating' });
    const stream = client.stream('tester::count', { to: 3 }, { namespace });
    const heard = [];
    for await (const event of stream) heard.push(event);
    expect(heard).toEqual(COUNTED);
    expect(await stream.result).toEqual({ counted: 3 });
    client.close();
  });

  test('over HTTP as server-sent events, and as one answer to a client that does not ask', async () => {
    expect(await post({ to: 3 }, namespace, 'text/event-stream')).toEqual([
      ...COUNTED.map((event) => ['progress', event]),
      ['result', { counted: 3 }],
    ]);
    expect(await post({ to: 3 }, namespace, 'application/json')).toEqual({ counted: 3 });
  });

  test('over HTTP a failure comes after the events, with its code', async () => {
    const heard = (await post({ to: 1, fails: true }, namespace, 'text/event-stream')) as [string, AnyFrame][];
    expect(heard.map(([name]) => name)).toEqual(['progress', 'error']);
    expect(heard[1]![1].error).toMatchObject({ code: 'T1', message: 'it counted, and failed' });
  });
});

test.each(Object.entries(revisions))(
  'two MCP clients each get the events of their own call, as progress (%s)',
  async (_, mode) => {
    const count = async (to: number, everyMs: number) => {
      await using client = await openClient(httpTransport(cell.url.replace('ws', 'http')), mode);
      const heard: { progress: number; message?: string }[] = [];
      const call = { name: 'tester_count', arguments: { to, everyMs } };
      await client.callTool(call, { onprogress: (progress) => heard.push(progress) });
      expect(heard.map(({ progress }) => progress)).toEqual(
        heard.map(({ progress }) => progress).toSorted((a, b) => a - b),
      );
      return heard.map(({ message }) => message);
    };
    const both = (everyMs: number) => Promise.all([count(2, everyMs), count(3, everyMs)]);
    // A line that follows another too soon is not sent, and on a busy machine one may be late.
    const heard = await withEnoughTime([300, 2000], both, (seen) => seen.flat().length === 5);
    expect(heard).toEqual([
      ['at 1', 'at 2'],
      ['at 1', 'at 2', 'at 3'],
    ]);
  },
);

test('workcell call --events prints each as a line of JSON on standard error', async () => {
  const args = ['call', 'tester::count', 'to=3', '--events', '--url', cell.url];
  const { stdout, stderr, code } = await runCli(args);
  expect({ code, reply: JSON.parse(stdout) }).toEqual({ code: 0, reply: { counted: 3 } });
  expect(
    stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(COUNTED);
  expect((await runCli(args.filter((word) => word !== '--events'))).stderr).toBe('');
});

test('a call that reports nothing is reported as running', async () => {
  const heard: CallEvent[] = [];
  await near.call('tester::count', { to: 1, everyMs: 3_000 }, { onEvent: (event) => heard.push(event) });
  expect(heard[0]).toEqual({ type: 'running', elapsed_ms: expect.any(Number) });
  expect(heard.at(-1)).toEqual(COUNTED[0]);
});

test('leaving the loop cancels the call', async () => {
  for await (const event of near.stream('tester::count', { to: 1_000, everyMs: 5 })) {
    expect(event).toEqual(COUNTED[0]);
    break;
  }
  await expect.poll(() => runningCounts(near)).toEqual([]);
});

test('a disconnect cancels the call', async () => {
  const gone = new AbortController();
  const reply = await fetch(urlOf('default'), {
    ...init({ to: 1_000, everyMs: 5 }, 'text/event-stream'),
    signal: gone.signal,
  });
  await reply.body!.getReader().read();
  expect(await runningCounts(near)).toHaveLength(1);
  gone.abort();
  await expect.poll(() => runningCounts(near)).toEqual([]);
});

test('a caller that hangs up before the first event cancels the call, however early', async () => {
  const { hostname, port } = new URL(cell.url);
  const body = JSON.stringify({ to: 1, everyMs: 60_000 });
  const head = [
    ...['POST /functions/tester/count HTTP/1.1', `Host: ${hostname}:${port}`, 'Accept: text/event-stream'],
    ...['Content-Type: application/json', `Content-Length: ${body.length}`, '', body],
  ];
  for (const waitMs of [0, 0, 0, 1, 2, 5, 20, 100]) {
    const socket = createConnection(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(head.join('\r\n'));
    await passed(waitMs);
    socket.destroy();
  }
  await passed(200);
  await expect.poll(() => runningCounts(near)).toEqual([]);
});

test('a server that closes ends the streams of its callers', async () => {
  const closing = await startWorkcell({ host: '127.0.0.1', port: 0, log: silentLog, entries: [] });
  const url = `${closing.url.replace('ws', 'http')}/functions/engine/watch`;
  const reply = await fetch(url, init({}, 'text/event-stream'));
  const read = reply.text().catch(String);
  await closing.close();
  expect(await read).toMatch(/^event: error\nid: \d+\ndata: .*connection_closed/m);
});

describe('frames', () => {
  test('bus.P20 a caller that did not ask gets the answer and nothing else', async () => {
    using peer = await Peer.dial(cell.url);
    const { result } = await peer.call('tester::count', { to: 3 });
    expect(result).toEqual({ counted: 3 });
    await peer.settled();
    expect(peer.frames).toEqual([]);
  });

  test('a caller that asks gets them numbered, under the id of its call, whatever that is', async () => {
    using peer = await Peer.dial(cell.url);
    await peer.call('tester::count', { to: 2 }, { invocation_id: 'mine', namespace: 'far', wants_events: true });
    expect(peer.frames.map(({ type, invocation_id, seq }) => [type, invocation_id, seq])).toEqual([
      ['invocationevent', 'mine', 1],
      ['invocationevent', 'mine', 2],
    ]);
  });

  test('bus.P20 a worker that did not announce the feature is not asked', async () => {
    using old = await Peer.dial(cell.url);
    await old.call('engine::workers::register', { name: 'old', pid: 1 });
    await old.register('old::frame');
    old.answer('old::frame', (frame) => frame);
    using peer = await Peer.dial(cell.url);
    const { result } = await peer.call('old::frame', {}, { wants_events: true });
    expect(Object.keys(result as object).toSorted()).toEqual(['data', 'function_id', 'invocation_id', 'type']);
  });
});

test('watching: what changed is reported until the caller leaves, and without events it is refused', async () => {
  const watching = near.stream('engine::watch');
  const heard = watching[Symbol.asyncIterator]();
  const next = heard.next();
  await near.call('tester::who');
  expect((await next).value).toEqual({ type: 'changed', what: expect.arrayContaining(['calls']) });
  await heard.return!();
  await expect(watching.result).rejects.toMatchObject({ code: 'CANCELLED' });

  const refused = await near.call('engine::watch').catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'deserialization_error', message: expect.stringContaining('stream()') });
});

async function runningCounts(bus: Connection): Promise<unknown[]> {
  const { running } = (await bus.call('engine::calls::list')) as { running: { function_id: string }[] };
  return running.filter(({ function_id }) => function_id === 'tester::count');
}

function urlOf(namespace: string): string {
  return `${cell.url.replace('ws', 'http')}/functions/tester/count?namespace=${namespace}`;
}

function init(body: object, accept: string) {
  const headers = { 'Content-Type': 'application/json', Accept: accept };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

/** The events by name and data, or the answer itself. */
async function post(body: object, namespace: string, accept: string): Promise<unknown> {
  const reply = await fetch(urlOf(namespace), init(body, accept));
  expect(reply.headers.get('content-type')).toContain(accept);
  const text = await reply.text();
  if (accept === 'application/json') return JSON.parse(text);
  return text
    .trim()
    .split('\n\n')
    .map((block) => [/^event: (.*)$/m.exec(block)![1], JSON.parse(/^data: (.*)$/m.exec(block)![1]!)]);
}

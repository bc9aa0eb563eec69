import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { connect } from '#client';
import { defineErrors, defineWorker, Failure, type CallScope } from '#contract';
import { startEngine, type TestEngine } from '#testing';
import { httpDoor } from './index.ts';

const MAX_BODY_BYTES = 1_000_000;
const busErrors = [{ code: 'function_not_found', meaning: '', http: 404, retryable: false }];

/** The scope of each call, as the handler below gets it. */
const scopes: ((scope: CallScope) => void)[] = [];
const nextScope = () => new Promise<CallScope>((resolve) => scopes.push(resolve));

const internal = () => new Failure({ code: 'X', message: 'unused' });
const worker = defineWorker({
  name: 'digger',
  summary: 'For tests.',
  config: z.object({}),
  errors: defineErrors({}),
  failures: { badInput: internal, internal, deadline: internal },
  open: () => ({}),
});
const wait = worker.defineFunction({
  id: 'digger::wait',
  summary: 'Wait until the caller cancels.',
  effect: 'read',
  permissions: [],
  request: z.unknown(),
  response: z.unknown(),
  errors: [],
  examples: [],
  handle: (_request, _context, scope) => {
    scopes.shift()?.(scope);
    return new Promise((resolve) => scope.signal.addEventListener('abort', () => resolve('cancelled')));
  },
});

let running: TestEngine;
let port: number;

beforeAll(async () => {
  running = await startEngine({ onRequest: (incoming, outgoing) => door(incoming, outgoing) });
  port = running.server.port;
  const bus = await connect(running.engine.dialer());
  const door = httpDoor(bus, { version: '1.2.3', busErrors, maxBodyBytes: MAX_BODY_BYTES });
  const serving = await connect(running.engine.dialer(), { name: 'digger' });
  serving.serve({ def: worker.withFunctions([wait]), context: {} });
  await bus.call('engine::workers::list');
});
afterAll(() => running[Symbol.asyncDispose]());

function send(path: string, options: RequestOptions = {}) {
  const outgoing = request({ host: '127.0.0.1', port, path, method: 'POST', agent: false, ...options });
  const incoming = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject);
  });
  return { outgoing, incoming };
}

test('a client that goes away gives its call up', async () => {
  const called = nextScope();
  const { outgoing, incoming } = send('/functions/digger/wait');
  incoming.catch(() => {});
  outgoing.end('{}');
  const { signal } = await called;
  expect(signal.aborted).toBe(false);

  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
  outgoing.destroy();
  await aborted;
});

test('a client that has waited long enough gives its call up', async () => {
  const called = nextScope();
  const { outgoing, incoming } = send('/functions/digger/wait?timeout_ms=20');
  outgoing.end();
  const { signal } = await called;
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect((await incoming).statusCode).toBe(504);
  await aborted;
});

test('a body that never ends is answered at the cap', async () => {
  const { outgoing, incoming } = send('/functions/digger/wait');
  const pour = () => {
    while (outgoing.writable && outgoing.write(Buffer.alloc(65_536)));
  };
  outgoing.on('drain', pour);
  pour();
  const response = await incoming;
  expect([response.statusCode, await text(response)]).toEqual([
    413,
    '{"error":{"code":"payload_too_large","message":"the request body is larger than 1000000 bytes"}}',
  ]);
  outgoing.destroy();
});

test.each([
  ['/functions/../healthz', 404, 'path_not_found'],
  ['/functions/%2e%2e/healthz', 404, 'path_not_found'],
  ['/functions/digger/../../../etc/passwd', 404, 'path_not_found'],
  ['/functions/digger%2Fwait', 404, 'function_not_found'],
  ['/functions/digger%3A%3Anone', 404, 'function_not_found'],
  ['//functions/digger/none', 404, 'path_not_found'],
])('POST %s, as it is on the wire, is a %i', async (path, status, code) => {
  const { outgoing, incoming } = send(path);
  outgoing.end();
  const response = await incoming;
  expect([response.statusCode, JSON.parse(await text(response)).error.code]).toEqual([status, code]);
});

test('nonsense on the wire is a 400 and the door stays open', async () => {
  const socket = connectTcp({ host: '127.0.0.1', port });
  socket.end('POST /functions/digger/wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);

  const { outgoing, incoming } = send('/healthz', { method: 'GET' });
  outgoing.end();
  const response = await incoming;
  expect([response.statusCode, await text(response)]).toEqual([200, '{"status":"ok","version":"1.2.3"}']);
});

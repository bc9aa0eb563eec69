import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { connect, type Connection } from '#client';
import { defineErrors, defineWorker } from '#contract';
import { startEngine, type TestEngine } from '#testing';
import { httpApp, type HttpAppOptions } from './app.ts';

const errors = defineErrors({
  D1: { meaning: 'It is gone.', http: 404, message: (d: { what: string }) => `${d.what} is gone` },
  D2: { meaning: 'It is taken.', http: 409, message: (_: object) => 'taken', fix: () => ({ overwrite: true }) },
  D9: { meaning: 'A bug.', http: 500, message: (d: { text: string }) => d.text },
});
const worker = defineWorker({
  name: 'digger',
  summary: 'For tests.',
  config: z.object({}),
  errors,
  failures: {
    badInput: (text) => errors.fail('D9', { text }),
    internal: (text) => errors.fail('D9', { text }),
    deadline: (ms) => errors.fail('D9', { text: `${ms}` }),
  },
  open: () => ({}),
});
const fn = (id: string, codes: ('D1' | 'D2' | 'D9')[], handle: (request: unknown) => unknown) =>
  worker.defineFunction({
    id,
    summary: `About ${id}.`,
    effect: 'read',
    permissions: [],
    request: z.unknown(),
    response: z.unknown(),
    errors: codes,
    examples: [],
    handle,
  });
const digger = worker.withFunctions([
  fn('digger::echo', [], (request) => ({ request })),
  fn('digger::nothing', [], () => undefined),
  fn('digger::gone', ['D1'], () => {
    throw errors.fail('D1', { what: 'the hole' });
  }),
  fn('digger::taken', ['D2'], () => {
    throw errors.fail('D2', {});
  }),
  fn('digger::undeclared', [], () => {
    throw errors.fail('D1', { what: 'a secret code' });
  }),
  fn('digger::buried deep/über%', [], () => 'found'),
  fn('digger::stuck', [], () => new Promise(() => {})),
]);

let running: TestEngine;
let bus: Connection;
let app: ReturnType<typeof httpApp>;
const options: HttpAppOptions = {
  version: '1.2.3',
  busErrors: [
    { code: 'function_not_found', meaning: '', http: 404, retryable: false },
    { code: 'invocation_stopped', meaning: '', http: 503, retryable: true },
  ],
  maxBodyBytes: 100,
};

beforeAll(async () => {
  running = await startEngine();
  const serving = await connect(running.engine.dialer(), { name: 'digger' });
  serving.serve({ def: digger, context: {} });
  bus = await connect(running.engine.dialer());
  app = httpApp(bus, options);
});
afterAll(() => running[Symbol.asyncDispose]());

async function ask(method: string, path: string, init?: RequestInit): Promise<{ status: number; body: unknown }> {
  const response = await app.request(path, { method, ...init });
  const text = await response.text();
  return { status: response.status, body: text === '' ? '' : JSON.parse(text) };
}
const post = (path: string, body?: string) => ask('POST', `/functions/${path}`, { body });
const failed = (status: number, code: string, message: string, more: object = {}) => ({
  status,
  body: { error: { code, message, ...more } },
});

describe('a call', () => {
  test.each([
    ['its request', 'digger/echo', '{"a":[1]}', { request: { a: [1] } }],
    ['an empty body as an empty request', 'digger/echo', undefined, { request: {} }],
    ['blanks as an empty request', 'digger/echo', ' \n', { request: {} }],
    ['a request that is not an object', 'digger/echo', '[1]', { request: [1] }],
    ['percent-encoded names', 'digger/buried%20deep%2F%C3%BCber%25', undefined, 'found'],
    ['a result of nothing as null', 'digger/nothing', undefined, null],
    ['functions of the engine', 'engine/functions/info', '{"function_ids":[]}', { functions: [] }],
  ])('http.P1 takes %s', async (_, path, body, result) => {
    expect(await post(path, body)).toEqual({ status: 200, body: result });
  });

  test.each([
    ['a coded failure has the status of its row', 'digger/gone', failed(404, 'D1', 'the hole is gone')],
    ['a failure brings its fix', 'digger/taken', failed(409, 'D2', 'taken', { fix: { overwrite: true } })],
    [
      'a code that the function does not declare is a 500',
      'digger/undeclared',
      failed(500, 'D1', 'a secret code is gone'),
    ],
    [
      'an unknown function is a 404',
      'digger/eco',
      failed(404, 'function_not_found', 'Function digger::eco not found (did you mean "digger::echo"?)'),
    ],
    [
      'a function of another namespace is a 404',
      'digger/echo?namespace=other',
      failed(404, 'function_not_found', expect.stringContaining('default') as string),
    ],
    ['an empty name is a 404', 'digger//echo', failed(404, 'function_not_found', 'the path names no function')],
    ['no name is a 404', '', failed(404, 'function_not_found', 'the path names no function')],
    ['broken encoding is a 404', 'digger/%E4%zz', failed(404, 'function_not_found', 'the path names no function')],
    [
      'an encoded climb is only a name',
      '%2e%2e%2fhealthz',
      failed(404, 'function_not_found', 'Function ../healthz not found'),
    ],
    ['too little time is a 504', 'digger/stuck?timeout_ms=5', failed(504, 'TIMEOUT', 'invocation timed out after 5ms')],
    [
      'no time is a 400',
      'digger/echo?timeout_ms=0',
      failed(400, 'invalid_timeout', 'timeout_ms must be a number above 0'),
    ],
    [
      'a time that is not a number is a 400',
      'digger/echo?timeout_ms=soon',
      failed(400, 'invalid_timeout', 'timeout_ms must be a number above 0'),
    ],
  ])('http.P1 %s', async (_, path, answer) => {
    expect(await post(path)).toEqual(answer);
  });

  test('a body that is not JSON is a 400', async () => {
    const answer = await post('digger/echo', '{"a":');
    expect(answer).toEqual(failed(400, 'invalid_json', 'the request body is not JSON: Unexpected end of JSON input'));
  });

  test('a body up to the cap is taken, one byte more is a 413, announced or not', async () => {
    const [full, over] = [JSON.stringify('x'.repeat(98)), JSON.stringify('x'.repeat(99))];
    const tooLarge = failed(413, 'payload_too_large', 'the request body is larger than 100 bytes');
    expect(await post('digger/echo', full)).toMatchObject({ status: 200 });
    expect(await post('digger/echo', over)).toEqual(tooLarge);
    const announced = await app.request('/functions/digger/echo', {
      method: 'POST',
      body: '{}',
      headers: { 'content-length': '101' },
    });
    expect({ status: announced.status, body: await announced.json() }).toEqual(tooLarge);
  });

  test('a worker in another language answers a plain 500 for what has no code', async () => {
    await using miner = await foreignWorker('miner::crash', () => ({
      error: { code: 'invocation_failed', message: 'handler error: boom' },
    }));
    expect(await miner.post()).toEqual(failed(500, 'invocation_failed', 'boom'));
    miner.register('miner::odd', { errors: [{ code: 'E1', http: 42 }] });
    expect(await post('miner/odd')).toEqual(failed(500, 'invocation_failed', 'boom'));
  });

  test('a worker in another language may declare codes of its own', async () => {
    const coded = {
      code: 'invocation_failed',
      message: 'handler error: {"code":"E7","message":"busy","retry_after":3}',
    };
    await using miner = await foreignWorker('miner::busy', () => ({ error: coded }), {
      errors: [{ code: 'E7', http: 429 }],
    });
    expect(await miner.post()).toEqual(failed(429, 'E7', 'busy', { retry_after: 3 }));
  });

  test('a worker that leaves before it answers is a 503', async () => {
    await using miner = await foreignWorker('miner::leave', () => 'leave');
    expect(await miner.post()).toEqual(failed(503, 'invocation_stopped', 'Invocation stopped'));
  });

  test('the trace of the request goes with the call', async () => {
    await using miner = await foreignWorker('miner::trace', (frame) => ({
      result: { traceparent: frame.traceparent, baggage: frame.baggage },
    }));
    const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', baggage: 'user=1' };
    expect(await miner.post({ headers })).toEqual({ status: 200, body: headers });
  });
});

describe('other requests', () => {
  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])(
    '%s on a function is a 405 that allows POST',
    async (method) => {
      const response = await app.request('/functions/digger/echo', { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
      const body = failed(405, 'method_not_allowed', 'call a function with POST and its request as JSON').body;
      expect(await response.text()).toBe(method === 'HEAD' ? '' : JSON.stringify(body));
    },
  );

  test.each([
    ['GET', '/nowhere'],
    ['POST', '/healthz'],
    ['OPTIONS', '/openapi.json'],
    ['POST', '/functions/../x'],
  ])('%s %s is a 404 that names the paths', async (method, path) => {
    const paths = 'the paths are /functions, /mcp, /openapi.json, /docs, /metrics, /healthz and /readyz';
    expect(await ask(method, path)).toEqual(failed(404, 'path_not_found', paths));
  });

  test('health returns the version, also to HEAD', async () => {
    expect(await ask('GET', '/healthz')).toEqual({ status: 200, body: { status: 'ok', version: '1.2.3' } });
    expect(await ask('HEAD', '/healthz')).toEqual({ status: 200, body: '' });
  });

  test('the list shows what can be called and where', async () => {
    const { status, body } = await ask('GET', '/functions');
    expect(status).toBe(200);
    expect((body as { functions: unknown[] }).functions).toContainEqual({
      id: 'digger::buried deep/über%',
      summary: 'About digger::buried deep/über%.',
      path: '/functions/digger/buried%20deep%2F%C3%BCber%25',
    });
  });

  test('a function of another namespace is called with its namespace', async () => {
    const serving = await connect(running.engine.dialer(), { name: 'digger', namespace: 'deep down' });
    serving.serve({ def: digger, context: {} });
    await serving.call('engine::workers::list');
    const { body } = await ask('GET', '/functions');
    const { functions } = body as { functions: { id: string; path: string }[] };
    const paths = functions.filter(({ id }) => id === 'digger::echo').map(({ path }) => path);
    expect(paths.toSorted()).toEqual(['/functions/digger/echo', '/functions/digger/echo?namespace=deep+down']);
    for (const path of paths) expect(await ask('POST', path)).toEqual({ status: 200, body: { request: {} } });
    serving.close();
  });

  test('an unknown page is a 404 that names the pages', async () => {
    const answer = failed(404, 'page_not_found', 'the pages are /docs/digger, /docs/engine, /docs/errors');
    expect(await ask('GET', '/docs/nowhere')).toEqual(answer);
  });

  test('pages are HTML that may load nothing', async () => {
    for (const path of ['/', '/docs/digger', '/docs/errors']) {
      const { status, headers } = await app.request(path);
      expect([path, status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
        'nosniff',
      ]);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'/,
      );
    }
    expect((await app.request('/docs')).headers.get('location')).toBe('/docs/errors');
  });

  test('a lost engine is a 503 everywhere', async () => {
    const lonely = await startEngine();
    const lonelyApp = httpApp(await connect(lonely.engine.dialer()), options);
    await lonely[Symbol.asyncDispose]();
    const answers = ['/openapi.json', '/docs/errors', '/functions'].map(
      async (path) => (await lonelyApp.request(path)).status,
    );
    expect(await Promise.all(answers)).toEqual([503, 503, 503]);
  });

  test('a bug is answered without its details, and logged with them', async () => {
    const logged: unknown[] = [];
    const ignore = () => {};
    const log = { debug: ignore, info: ignore, warn: ignore, error: (...words: unknown[]) => logged.push(words) };
    const broken = { call: () => Promise.reject(new TypeError('inside')) } as unknown as Connection;
    const response = await httpApp(broken, { ...options, log }).request('/functions/digger/echo', { method: 'POST' });
    expect({ status: response.status, body: await response.json() }).toEqual(
      failed(500, 'internal_error', 'a bug in the HTTP surface'),
    );
    expect(logged).toEqual([
      [
        'a bug in the HTTP surface',
        { path: '/functions/digger/echo', stack: expect.stringContaining('TypeError: inside') },
      ],
    ]);
  });
});

type Answer = { result: unknown } | { error: { code: string; message: string } } | 'leave';

/** A worker made of frames, like one in another language. */
async function foreignWorker(
  id: string,
  answer: (frame: { traceparent?: string | null; baggage?: string | null }) => Answer,
  metadata?: unknown,
) {
  const link = await running.engine.dialer().dial();
  link.attach({
    frame(frame) {
      if (frame.type !== 'invokefunction') return;
      const reply = answer(frame);
      if (reply === 'leave') return link.close();
      link.send({ type: 'invocationresult', invocation_id: frame.invocation_id!, ...reply });
    },
    closed() {},
  });
  const register = (functionId: string, about?: unknown) =>
    link.send({ type: 'registerfunction', id: functionId, metadata: about });
  link.send({
    type: 'invokefunction',
    function_id: 'engine::workers::register',
    action: { type: 'void' },
    data: { name: 'miner' },
  });
  register(id, metadata);
  await bus.call('engine::workers::list');
  const path = `/functions/${id.replaceAll('::', '/')}`;
  return {
    register,
    post: (init?: RequestInit) => ask('POST', path, init),
    [Symbol.asyncDispose]: async () => link.close(),
  };
}

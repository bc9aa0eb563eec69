/** One port for everything, used by a plain client and by a browser. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { connect } from '#client';
import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { tempDir, type TempDir } from '../../../src/testing/temp-dir.ts';
import { web } from '../support/web.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dir: TempDir;
let open: CliProcess;
let closed: CliProcess;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': 'hello\n', 'b.bin': Buffer.from([0xff, 0x00, 0xfe]) });
  const args = ['start', '--port', '0', '--workspace', dir.root];
  [open, closed] = await Promise.all([
    startCli(args),
    startCli([...args, '--host', '0.0.0.0', '--insecure'], { env: { WORKCELL_TOKEN: 'opensesame' } }),
  ]);
});
afterAll(async () => {
  await Promise.all([open, closed].map((cell) => cell?.[Symbol.asyncDispose]()));
  await dir?.[Symbol.asyncDispose]();
});

const readFile = { method: 'POST', body: '{"path":"a.txt"}' };

test('health', async () => {
  expect(await web(`${open.http}/healthz`)).toMatchObject({
    status: 200,
    body: { status: 'ok', version: expect.any(String) },
  });
});

test('a call and its failures', async () => {
  const read = `${open.http}/functions/coder/read-file`;
  expect(await web(read, readFile)).toMatchObject({
    status: 200,
    body: { path: 'a.txt', content: 'hello\n', size: 6 },
  });
  expect(await web(read, { method: 'POST', body: '{"path":"none"}' })).toMatchObject({
    status: 404,
    body: { error: { code: 'C211', message: 'none does not exist or is protected' } },
  });
  expect(await web(read, { method: 'POST' })).toMatchObject({ status: 400, body: { error: { code: 'C210' } } });
  expect(await web(`${open.http}/functions/coder/none`, readFile)).toMatchObject({
    status: 404,
    body: { error: { code: 'function_not_found' } },
  });
});

test('a file that the bus sends through a channel is in the answer, as text or as base64', async () => {
  const read = (name: string) =>
    web(`${open.http}/functions/shell/fs/read`, { method: 'POST', body: JSON.stringify({ path: dir.path(name) }) });
  expect(await read('a.txt')).toMatchObject({ status: 200, body: { content: 'hello\n', encoding: 'utf-8', size: 6 } });
  expect(await read('b.bin')).toMatchObject({ status: 200, body: { content: '/wD+', encoding: 'base64', size: 3 } });
  // More than may be open at once: none is left open.
  for (let i = 0; i < 40; i++) expect((await read('a.txt')).status).toBe(200);

  const { body } = await web(`${open.http}/openapi.json`);
  const { paths } = body as { paths: Record<string, { post: { responses: Record<string, unknown> } }> };
  expect(JSON.stringify(paths['/functions/shell/fs/read']!.post.responses['200'])).toContain(
    '"content":{"type":"string"',
  );

  const printed = await runCli(['call', 'shell::fs::read', `path=${dir.path('a.txt')}`, '--url', open.url]);
  expect(JSON.parse(printed.stdout)).toMatchObject({ content: 'hello\n', encoding: 'utf-8' });
});

test('a field that a function does not have is refused with the nearest, over HTTP and on the command line', async () => {
  const problem = 'unknown field `offset` (did you mean `line_from`?)';
  const read = `${open.http}/functions/coder/read-file`;
  expect(await web(read, { method: 'POST', body: '{"path":"a.txt","offset":1}' })).toMatchObject({
    status: 400,
    body: { error: { code: 'C210', message: expect.stringContaining(problem) as string } },
  });
  expect(await web(read, { method: 'POST', body: '{"path":"a.txt","_caller_worker_id":"x"}' })).toMatchObject({
    status: 200,
  });
  const typed = await runCli(['call', 'coder::read-file', 'path=a.txt', 'offset=1', '--url', open.url]);
  expect([typed.code, typed.stderr]).toEqual([1, expect.stringContaining(problem)]);
});

test('the OpenAPI document describes every function, and its references resolve', async () => {
  const { status, body } = await web(`${open.http}/openapi.json`);
  const document = body as { openapi: string; info: object; paths: Record<string, unknown> };
  expect([status, document.openapi, Object.keys(document.info)]).toEqual([
    200,
    '3.1.0',
    ['title', 'version', 'license'],
  ]);
  const { body: listed } = await web(`${open.http}/functions`);
  const { functions } = listed as { functions: { path: string }[] };
  expect(Object.keys(document.paths).toSorted()).toEqual(functions.map(({ path }) => path).toSorted());

  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]*)"/g)].map(([, path = '']) =>
    path.split('/'),
  );
  const dangling = references.filter(
    (path) => path.reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document) === undefined,
  );
  expect([references.length > 0, dangling]).toEqual([true, []]);
});

test('pages: the console without an upgrade, the errors with an anchor for each code, also of workers that do not run', async () => {
  const page = await web(`${open.http}/`);
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.body).toContain('<title>Workcell</title>');
  const errors = await web(`${open.http}/docs/errors`);
  for (const code of ['C210', 'function_not_found', 'F218', 'S218', 'S300'])
    expect(errors.body).toContain(`<h2 id="${code}">`);
});

describe('a page of another site', () => {
  test.each([
    ['by its origin', { origin: 'https://evil.example' }, 'foreign_origin'],
    ['by an origin without a name', { origin: 'null' }, 'foreign_origin'],
    ['by a port that is not ours', { origin: 'http://localhost:1' }, 'foreign_origin'],
    ['by the host it was rebound from', { host: 'evil.example' }, 'foreign_host'],
  ])('is refused %s, over HTTP and WebSocket', async (_, headers, code) => {
    const answer = await web(`${open.http}/functions/coder/read-file`, { ...readFile, headers });
    expect(answer).toMatchObject({ status: 403, body: { error: { code } } });
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    };
    expect(await web(open.http, { headers: { ...upgrade, ...headers } })).toMatchObject({ status: 403 });
  });

  test('our own pages are not', async () => {
    const origin = open.http;
    expect(await web(`${open.http}/functions/coder/read-file`, { ...readFile, headers: { origin } })).toMatchObject({
      status: 200,
    });
  });
});

describe('with a token', () => {
  const http = () => `http://127.0.0.1:${closed.port}`;
  const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  test('only callers that send it may call', async () => {
    const read = `${http()}/functions/coder/read-file`;
    const refusal = {
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      body: { error: { code: 'unauthorized' } },
    };
    expect(await web(read, readFile)).toMatchObject(refusal);
    expect(await web(read, { ...readFile, ...withToken('opensesam') })).toMatchObject(refusal);
    expect(await web(`${http()}/openapi.json`)).toMatchObject(refusal);
    expect(await web(read, { ...readFile, ...withToken('opensesame') })).toMatchObject({ status: 200 });
    expect(await web(`${http()}/healthz`)).toMatchObject({ status: 200 });
  });

  test('only clients that send it may connect', async () => {
    const url = `ws://127.0.0.1:${closed.port}`;
    await expect(connect(url)).rejects.toMatchObject({ message: `${url} refused the connection with HTTP 401` });
    const bus = await connect(url, { token: 'opensesame' });
    expect(await bus.call('coder::read-file', { path: 'a.txt' })).toMatchObject({ content: 'hello\n' });
    bus.close();

    const call = ['call', 'coder::read-file', 'path=a.txt', '--url', url];
    const [without, given, fromEnv] = await Promise.all([
      runCli(call),
      runCli([...call, '--token', 'opensesame']),
      runCli(call, { env: { WORKCELL_TOKEN: 'opensesame' } }),
    ]);
    expect(without).toEqual({
      code: 3,
      stdout: '',
      stderr: `Error: ${url} refused the connection with HTTP 401. It wants a token: give --token or set WORKCELL_TOKEN\n`,
    });
    expect([given.code, fromEnv.code]).toEqual([0, 0]);
  });

  test('it is printed nowhere', () => {
    expect(closed.stdout + closed.stderr).not.toContain('opensesame');
  });
});

test('the address of an error code is whole: a reader can open it', async () => {
  const refused = await web(`${open.http}/functions/sandbox/create`, { method: 'POST', body: '{"image":"nosuch"}' });
  const { error } = refused.body as { error: { code: string; docs_url: string } };
  expect(error).toMatchObject({ code: 'S100', docs_url: `${open.http}/docs/errors#S100` });
  expect((await fetch(error.docs_url)).status).toBe(200);
});

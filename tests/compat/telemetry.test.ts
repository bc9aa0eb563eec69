/** Telemetry is on by default in the SDKs: its socket is taken, its frames are read and dropped. */
import { WebSocketServer, WebSocket } from 'ws';
import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { Child } from './support/children.ts';
import { packageOf, versions, type Version } from './support/clients.ts';
import { RawPeer } from './support/raw-peer.ts';
import { within } from './support/waiting.ts';

test.each(versions)(
  '%s: with telemetry on, calls work, nothing is retried, and shutdown lets the process end',
  async (version) => {
    await using engine = await startEngine();
    await using child = program(version, engine.url);

    expect(await within(child.exited, 'the end of the program')).toEqual({ code: 0, signal: null });
    expect(child.stdout).toContain('answer 42\nclosed\n');
    expect(child.stdout + child.stderr).not.toMatch(/Unexpected server response|retry|Reconnecting/i);
  },
);

test.each(versions)('%s: telemetry makes no second worker', async (version) => {
  await using engine = await startEngine();
  await using child = program(version, engine.url, `await new Promise(() => setInterval(() => {}, 1_000))`);
  await using peer = await RawPeer.connect(engine.url);
  await child.printed('answer 42');

  const { result } = await peer.call('engine::workers::list');

  expect(result.workers.map(({ name }: { name: string }) => name)).toEqual(['with-telemetry']);
});

test('frames on /otel are read and never answered', async () => {
  await using engine = await startEngine();
  const socket = new WebSocket(`${engine.url}/otel`);
  const heard: string[] = [];
  socket.on('message', (data) => heard.push((data as Buffer).toString()));
  await within(new Promise((open) => socket.once('open', open)), 'the open socket');

  socket.send('OTLP{"resourceSpans":[]}');
  socket.send(Buffer.from('LOGS{"resourceLogs":[]}'));
  socket.send(JSON.stringify({ type: 'registerfunction', id: 'not::here' }));
  const pong = new Promise((answer) => socket.once('pong', answer));
  socket.ping();
  await within(pong, 'the pong');

  await using peer = await RawPeer.connect(engine.url);
  expect((await peer.call('not::here')).error).toMatchObject({ code: 'function_not_found' });
  expect(heard).toEqual([]);
  socket.terminate();
});

test('the SDKs do send telemetry by default: the check above is not empty', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const isAsked = new Promise((asked) => {
    server.on('connection', (_socket, request) => request.url === '/otel' && asked(request.url));
  });
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as { port: number };
  await using child = program('0.22.1', `ws://127.0.0.1:${port}`);

  expect(await within(isAsked, 'the telemetry socket')).toBe('/otel');
  await child.kill();
  for (const socket of server.clients) socket.terminate();
  server.close();
});

/** Makes one call with default options, runs the given step, and shuts down. */
function program(version: Version, url: string, then = ''): Child {
  const code = `
    import { registerWorker } from '${packageOf[version]}';
    const client = registerWorker('${url}', { workerName: 'with-telemetry' });
    client.registerFunction('answer', async () => 42);
    console.log('answer ' + await client.trigger({ function_id: 'answer', payload: {} }));
    ${then}
    await client.shutdown();
    console.log('closed');
  `;
  return new Child(code, { OTEL_ENABLED: 'true' });
}

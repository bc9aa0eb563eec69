/** Telemetry as it leaves: the built command line and a receiver of OTLP. */
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { connect } from '#client';
import { rounds, tester, tempDir, type TempDir } from '#testing';
import { runCli, startCli, type CliProcess } from '../../../src/testing/cli.ts';
import { Collector, type OtlpSpan } from '../support/collector.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const WATCHED = { NODE_OPTIONS: `--import=${fileURLToPath(new URL('../../watch-modules.mjs', import.meta.url))}` };
const LOADED = 'loads @opentelemetry/';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const traceparent = `00-${TRACE}-${PARENT}-01`;
const FAST = { OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_METRIC_EXPORT_INTERVAL: '200' };

function start(dir: TempDir, env: Record<string, string>): Promise<CliProcess> {
  return startCli(['start', '--port', '0', '--workspace', dir.root], { env: { ...WATCHED, ...env } });
}

function call(cell: CliProcess, path: string, payload: object, headers: Record<string, string> = {}) {
  const all = { 'Content-Type': 'application/json', ...headers };
  return fetch(`${cell.http}/functions/${path}`, { method: 'POST', headers: all, body: JSON.stringify(payload) });
}

test.concurrent('access.P6 without a collector nothing of OpenTelemetry is loaded, and /otel still takes what SDKs send', async () => {
  await using dir = await tempDir({ 'a.txt': 'a\n' });
  await using cell = await start(dir, { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' });
  expect((await call(cell, 'coder/read-file', { path: 'a.txt' }, { traceparent })).status).toBe(200);
  const socket = await telemetrySocket(cell);
  socket.send('OTLP{"resourceSpans":[]}');
  await new Promise((pong) => socket.once('pong', pong).ping());
  socket.terminate();
  expect(await cell.stop()).toBe(0);
  expect(cell.stderr).not.toContain(LOADED);
});

test.concurrent('access.P6 with a collector and without the packages it exits 2 and names the command to run', async () => {
  const env = { ...WATCHED, HIDE_PACKAGES: '@opentelemetry/', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
  const { code, stderr } = await runCli(['start', '--port', '0'], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('npm install @opentelemetry/api@1.9.1 ')]);
});

describe('with a collector', () => {
  let dir: TempDir;
  let collector: Collector;
  let cell: CliProcess;

  beforeAll(async () => {
    [dir, collector] = await Promise.all([tempDir({ 'a.txt': 'planted-secret\n' }), Collector.start()]);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=planted', ...FAST };
    cell = await start(dir, env);
  });
  afterAll(async () => {
    await cell?.[Symbol.asyncDispose]();
    await collector?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  async function span(fits: (span: OtlpSpan) => boolean): Promise<OtlpSpan> {
    await expect.poll(() => collector.spans.some(fits)).toBe(true);
    return collector.spans.find(fits)!;
  }

  test('access.P6 a call is a span whose parent is the caller’s', async () => {
    await call(cell, 'coder/read-file', { path: 'a.txt' }, { traceparent });
    const sent = await span(({ name, parentSpanId }) => name === 'coder::read-file' && parentSpanId === PARENT);
    expect(sent).toMatchObject({ traceId: TRACE, status: { code: 0 } });
    expect(attributes(sent)).toMatchObject({ 'workcell.caller.kind': 'local', 'workcell.outcome': 'ok' });
    expect(BigInt(sent.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(sent.startTimeUnixNano));
    expect(collector.received[0]!.headers).toMatchObject({ 'x-key': 'planted', 'content-type': 'application/json' });
  });

  test('a nested call is a span below that of its call, through a worker on a socket too', async () => {
    const bus = await connect(cell.url);
    const worker = await connect(cell.url, { name: 'tester' });
    worker.serve({ def: tester, context: {} });
    await worker.call('engine::workers::list');
    await bus.call('tester::ask', { id: 'coder::tree' }, { traceparent: traceparent.replace('4736', '4737') });
    const outer = await span(({ name }) => name === 'tester::ask');
    const inner = await span(({ name, traceId }) => name === 'coder::tree' && traceId === outer.traceId);
    expect([outer.parentSpanId, inner.parentSpanId]).toEqual([PARENT, outer.spanId]);
    worker.close();
    bus.close();
  });

  test('a failure has its code, never its text; an unknown function has no name of the caller’s', async () => {
    await call(cell, 'coder/read-file', { path: 'missing-planted.txt' });
    const failed = await span(({ status }) => status.code === 2);
    expect(attributes(failed)).toMatchObject({ 'workcell.outcome': 'failed', 'error.type': failed.status.message });
    const bus = await connect(cell.url);
    await bus.call('planted::function', {}, { traceparent: 'not a traceparent' }).catch(() => {});
    bus.close();
    const unknown = await span(({ name }) => name === 'unknown function');
    expect(attributes(unknown)['error.type']).toBe('function_not_found');
    expect(collector.received.map(({ body }) => body).join('')).not.toContain('planted');
  });

  test('access.P6 the metrics of engine::metrics arrive', async () => {
    await call(cell, 'coder/tree', {});
    const counted = () =>
      collector.metrics
        .filter(({ name }) => name === 'workcell_calls_total')
        .flatMap(({ sum }) => sum!.dataPoints)
        .some((point) => attributes(point).function === 'coder::tree' && point.asDouble! >= 1);
    await expect.poll(counted).toBe(true);
    const text = await (await fetch(`${cell.http}/metrics`)).text();
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
    expect(new Set(collector.metrics.map(({ name }) => name))).toEqual(new Set(names));
    const { histogram } = collector.metrics.findLast(({ name }) => name === 'workcell_call_duration_seconds')!;
    for (const { count, bucketCounts, explicitBounds } of histogram!.dataPoints) {
      expect(bucketCounts!.reduce((sum, one) => sum + one)).toBe(count);
      expect(bucketCounts).toHaveLength(explicitBounds!.length + 1);
    }
  });

  test('access.P6 /otel sends on what SDKs send, whole and in pieces, and drops what is too large or of no kind', async () => {
    const socket = await telemetrySocket(cell);
    const logs = '{"resourceLogs":["a log"]}';
    socket.send('OTLP{"resourceSpans":[],"from":"sdk"}');
    socket.send(Buffer.from('MTRC{"resourceMetrics":[],"from":"sdk"}'));
    socket.send(`OTLP"${'x'.repeat(5 * 1024 * 1024)}"`);
    socket.send('WHAT{"is":"this"}');
    for (const letter of `LOGS${logs}`) socket.send(letter, { fin: false });
    socket.send('', { fin: true });
    const bodies = (path: string) => collector.received.filter((one) => one.path === path).map(({ body }) => body);
    await expect.poll(() => bodies('/v1/logs')).toEqual([logs]);
    await expect.poll(() => bodies('/v1/traces')).toContain('{"resourceSpans":[],"from":"sdk"}');
    await expect.poll(() => bodies('/v1/metrics')).toContain('{"resourceMetrics":[],"from":"sdk"}');
    expect(collector.received.filter(({ body }) => body.length > 1024 * 1024 || body.includes('"is"'))).toEqual([]);
    socket.terminate();
  });

  test('what is left is sent at the end', async () => {
    await using last = await start(dir, {
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '600000' },
      ...{ OTEL_METRIC_EXPORT_INTERVAL: '600000', OTEL_SERVICE_NAME: 'the-last' },
    });
    await call(last, 'coder/read-file', { path: 'a.txt' });
    expect(await last.stop()).toBe(0);
    const sent = collector.received.filter(({ body }) => body.includes('"the-last"')).map(({ path }) => path);
    expect(new Set(sent)).toEqual(new Set(['/v1/traces', '/v1/metrics']));
  });
});

describe.concurrent('a collector that', () => {
  /** Many calls and messages at once. */
  async function flood(cell: CliProcess): Promise<void> {
    const socket = await telemetrySocket(cell);
    const replies = await Promise.all(
      Array.from({ length: rounds(50, 200, 200) }, () => {
        socket.send('OTLP{"resourceSpans":[]}');
        return call(cell, 'coder/read-file', { path: 'a.txt' });
      }),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await fetch(`${cell.http}/healthz`)).status).toBe(200);
    socket.terminate();
  }

  test('access.P6 hangs costs calls nothing, and does not keep the server from its end', async ({ expect }) => {
    await using dir = await tempDir({ 'a.txt': 'a\n' });
    await using hanging = await Collector.start({ answers: false });
    const patient = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_BSP_EXPORT_TIMEOUT: '600000' };
    await using cell = await start(dir, { OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url, ...patient, ...FAST });
    await flood(cell);
    await expect.poll(() => hanging.received.length).toBeGreaterThan(1);
    expect(await cell.stop()).toBe(0);
  });

  test('access.P6 is down costs calls nothing, and is reported once', async () => {
    await using dir = await tempDir({ 'a.txt': 'a\n' });
    const impatient = { OTEL_EXPORTER_OTLP_TIMEOUT: '300' };
    await using cell = await start(dir, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', ...impatient, ...FAST });
    await flood(cell);
    await cell.logged('the collector does not accept telemetry');
    await flood(cell);
    expect(await cell.stop()).toBe(0);
    expect(cell.stderr.match(/the collector does not accept .*"what":"traces"/g)).toHaveLength(1);
  });
});

function attributes(of: Pick<OtlpSpan, 'attributes'>): Record<string, string | undefined> {
  return Object.fromEntries(of.attributes.map(({ key, value }) => [key, value.stringValue]));
}

async function telemetrySocket(cell: CliProcess): Promise<WebSocket> {
  const socket = new WebSocket(`${cell.url}/otel`);
  await new Promise((open, fail) => socket.once('open', open).once('error', fail));
  return socket;
}

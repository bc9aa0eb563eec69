/** Telemetry of the servers that listen on no port, and the trace that MCP clients send with a call. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { tempDir, type TempDir } from '#testing';
import { startCli } from '../../../src/testing/cli.ts';
import { Collector } from '../support/collector.ts';
import { BUILT, openClient, textOf } from '../support/mcp.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PARENT = '00f067aa0ba902b7';
/** Nothing is sent before the end. */
const AT_THE_END = { OTEL_BSP_SCHEDULE_DELAY: '600000', OTEL_METRIC_EXPORT_INTERVAL: '600000' };
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let dir: TempDir;
let collector: Collector;

beforeAll(async () => {
  [dir, collector] = await Promise.all([tempDir({ 'a.txt': 'a\n' }), Collector.start()]);
});
afterAll(async () => {
  await collector?.[Symbol.asyncDispose]();
  await dir?.[Symbol.asyncDispose]();
});

/** Tests share the collector; each has a trace of its own. */
function traceOf(digit: string) {
  const traceId = digit.repeat(32);
  return { traceId, traceparent: `00-${traceId}-${PARENT}-01` };
}

function parentsIn(traceId: string) {
  return collector.spans
    .filter((span) => span.traceId === traceId)
    .map(({ name, parentSpanId }) => [name, parentSpanId]);
}

function pathsOf(service: string): Set<string> {
  return new Set(collector.received.filter(({ body }) => body.includes(`"${service}"`)).map(({ path }) => path));
}

function mcpCommand(env: Record<string, string>) {
  const args = [BUILT, 'mcp', '--workspace', dir.root, '--profile', 'all'];
  const own = { HOME: dir.root, WORKCELL_PRESET: 'iii', ...env };
  return { command: process.execPath, args, env: { ...getDefaultEnvironment(), ...own } };
}

function stdio(env: Record<string, string>): StdioClientTransport {
  return new StdioClientTransport({ ...mcpCommand(env), stderr: 'ignore' });
}

const readA = (traceparent?: unknown) => ({
  name: 'coder_read_file',
  arguments: { path: 'a.txt' },
  ...(traceparent !== undefined && { _meta: { traceparent } }),
});

test('access.P6 workcell mcp sends what it has when its client leaves, below the trace of each call', async () => {
  const { traceId, traceparent } = traceOf('1');
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'by-stdio', ...AT_THE_END };
  const client = await openClient(stdio(env));
  expect(textOf(await client.callTool(readA(traceparent)))).toContain('a');
  await client.callTool(readA({ not: 'text' }));
  await client.callTool(readA('not a traceparent'));
  expect(collector.received).toEqual([]);
  await client.close();
  await expect.poll(() => pathsOf('by-stdio')).toEqual(new Set(['/v1/traces', '/v1/metrics']));
  expect(parentsIn(traceId)).toEqual([['coder::read-file', PARENT]]);
  expect(collector.spans.filter(({ name }) => name === 'coder::read-file')).toHaveLength(3);
});

test('a client of workcell mcp at a dead collector has its answers, and the process ends by itself', async () => {
  await using hanging = await Collector.start({ answers: false });
  const patient = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_BSP_EXPORT_TIMEOUT: '600000' };
  const { command, args, env } = mcpCommand({ OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url, ...patient, ...AT_THE_END });
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return (await lines.next()).value as string;
  };
  const clientInfo = { name: 'test', version: '1' };
  await ask(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  expect(JSON.parse(await ask(2, 'tools/call', readA()))).toMatchObject({ id: 2, result: { content: [{}] } });
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  expect(hanging.received.length).toBeGreaterThan(0);
});

test('variables that a collector of another program needs do not keep workcell mcp from serving', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  await using client = await openClient(stdio(env));
  expect(textOf(await client.callTool(readA()))).toContain('a');
});

test('access.P6 over HTTP a tool call belongs to the trace in its _meta, else to that of its request', async () => {
  const [call, request] = [traceOf('2'), traceOf('3')];
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
  await using cell = await startCli(['start', '--port', '0', '--workspace', dir.root], { env });
  const headers = { traceparent: request.traceparent };
  const url = new URL(`${cell.http}/mcp?profile=all`);
  await using client = await openClient(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  await client.callTool(readA(call.traceparent));
  await client.callTool(readA());
  const both = [[['coder::read-file', PARENT]], [['coder::read-file', PARENT]]];
  const callsIn = (traceId: string) => parentsIn(traceId).filter(([name]) => name === 'coder::read-file');
  await expect.poll(() => [call, request].map((one) => callsIn(one.traceId))).toEqual(both);
});

test('access.P6 a program with a Workcell in it sends what is left when it closes that', async () => {
  const { traceId, traceparent } = traceOf('4');
  const program = `
    import { createWorkcell } from 'workcell';
    const cell = await createWorkcell({ workspace: ${JSON.stringify(dir.root)}, workers: [{ name: 'coder' }] });
    await cell.call('coder::read-file', { path: 'a.txt' }, { traceparent: '${traceparent}' });
    await cell.close();
    console.log('closed');`;
  const env = { PATH: process.env.PATH, HOME: dir.root, OTEL_SERVICE_NAME: 'a-program', ...AT_THE_END };
  const run = (more: Record<string, string>) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: ROOT,
      env: { ...env, ...more },
    });
  expect((await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).stdout).toBe('closed\n');
  expect(pathsOf('a-program')).toEqual(new Set(['/v1/traces', '/v1/metrics']));
  expect(parentsIn(traceId)).toEqual([['coder::read-file', PARENT]]);

  const sent = collector.received.length;
  await run({});
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' });
  expect(collector.received).toHaveLength(sent);
});

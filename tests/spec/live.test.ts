/** The output of a command while it runs, through every door. */
import { once } from 'node:events';

import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { connect, type Connection } from '#client';
import { parseConfig, silentLog, type CallEvent } from '#contract';
import { channelPath, type ChannelRef } from '#protocol';
import { tempDir, type TempDir } from '#testing';
import { startWorkcell, type RunningWorkcell } from '../../src/assembly/workcell.ts';
import { shell } from '../../src/workers/shell/index.ts';
import { httpTransport, openClient, revisions } from '../e2e/support/mcp.ts';

let dir: TempDir;
let cell: RunningWorkcell;
let bus: Connection;
beforeAll(async () => {
  dir = await tempDir();
  const config = { allowlist: [], denylist_patterns: [], fs: { host_root: dir.root }, max_concurrent_jobs: 64 };
  cell = await startWorkcell({
    ...{ host: '127.0.0.1', port: 0, log: silentLog },
    entries: [{ def: shell, config: parseConfig(shell.config, config, 'shell') }],
  });
  bus = await connect(cell.url, { name: 'far' });
});
afterAll(async () => {
  bus.close();
  await cell.close();
  await dir[Symbol.asyncDispose]();
});

const http = () => cell.url.replace('ws', 'http');
const start = async (script: string) =>
  ((await bus.call('shell::exec_bg', { command: 'sh', args: ['-c', script], input: true })) as { job_id: string })
    .job_id;
const say = (job_id: string, text: string) => bus.call('shell::input', { job_id, text });

/** Reads events of a call over HTTP until one is enough. */
async function* events(payload: object, headers: Record<string, string> = {}) {
  const left = new AbortController();
  const response = await fetch(`${http()}/functions/shell/output?timeout_ms=60000`, {
    method: 'POST',
    headers: { Accept: 'text/event-stream', 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(payload),
    signal: left.signal,
  });
  let text = '';
  try {
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk).toString();
      const whole = text.split('\n\n');
      text = whole.pop()!;
      for (const lines of whole) {
        const [, name, , id, data] = /^event: (.*)\n(id: (.*)\n)?data: (.*)$/.exec(lines)!;
        yield { name, id, data: JSON.parse(data!) as CallEvent };
      }
    }
  } finally {
    left.abort();
  }
}

test('live.D1 shell.P22 a line comes over HTTP before the next is written', async () => {
  const job_id = await start('while read -r x; do echo "line $x"; done');
  const seen: unknown[] = [];
  await say(job_id, '1\n');
  for await (const { name, data } of events({ job_id, until: { exit: true } })) {
    if (name !== 'progress' || data.type !== 'output') continue;
    seen.push(data.text);
    if (seen.length < 5) await say(job_id, `${seen.length + 1}\n`);
    else break;
  }
  expect(seen).toEqual([1, 2, 3, 4, 5].map((n) => `line ${n}\n`));
  await bus.call('shell::kill', { job_id });
});

test('live.D1 shell.P22 a line comes through a WebSocket of a channel before the next is written', async () => {
  const job_id = await start('while read -r x; do echo "line $x"; done');
  const { reader, writer } = (await bus.call('shell::attach', { job_id, input: true })) as Record<
    'reader' | 'writer',
    ChannelRef
  >;
  const [output, input] = [reader, writer].map((ref) => new WebSocket(cell.url + channelPath(ref)));
  await Promise.all([once(output!, 'open'), once(input!, 'open')]);
  for (const n of [1, 2, 3]) {
    const answer = once(output!, 'message');
    input!.send(Buffer.from(`${n}\n`));
    expect(String((await answer)[0])).toBe(`line ${n}\n`);
  }
  input!.send('{"eof":true}');
  const [exit] = await once(output!, 'message');
  expect(JSON.parse(String(exit))).toMatchObject({ t: 'exit', status: 'finished' });
  await once(output!, 'close');
});

test('live.D14 a client that reconnects with Last-Event-ID continues where it stopped', async () => {
  const job_id = await start('while read -r x; do echo "line $x"; done');
  let text = '';
  let lastId: string | undefined;
  for (const round of [1, 2, 3]) {
    await say(job_id, `${round}\n`);
    const headers: Record<string, string> = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
    for await (const { name, id, data } of events({ job_id, until: { exit: true } }, headers)) {
      if (name !== 'progress' || data.type !== 'output') continue;
      text += data.text as string;
      lastId = id;
      break;
    }
  }
  expect({ text, lastId }).toEqual({ text: 'line 1\nline 2\nline 3\n', lastId: '21' });
  await bus.call('shell::input', { job_id, eof: true });
  for await (const { name, data } of events({ job_id, until: { exit: true } }, { 'Last-Event-ID': '14' })) {
    if (name === 'result') expect(data).toMatchObject({ from: 14, text: 'line 3\n', done: true });
  }
});

test('live.D14 an event without an offset has no id that a client could send as one', async () => {
  const job_id = await start('echo first; read -r x');
  await bus.call('shell::output', { job_id, until: { pattern: 'first' } });
  const payload = { job_id, since: 6, until: { exit: true } };
  const ids: (string | undefined)[] = [];
  for await (const { name, id } of events(payload)) {
    ids.push(id);
    if (name === 'result') break;
    // The call reports that it still waits.
    await bus.call('shell::input', { job_id, eof: true });
  }
  expect(ids.length).toBeGreaterThan(1);
  expect(ids.filter((id) => id !== undefined)).toEqual([]);
});

test('live.D14 Last-Event-ID is ignored for a function without `since`', async () => {
  const response = await fetch(`${http()}/functions/shell/exec`, {
    method: 'POST',
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': '4' },
    body: JSON.stringify({ command: 'echo', args: ['x'] }),
  });
  expect(await response.text()).toContain('"exit_code":0');
});

test.each(Object.entries(revisions))(
  'live.D12 shell.P22 progress over MCP is the last line, to a client that asks (%s)',
  async (_, mode) => {
    const transport = httpTransport(http());
    await using client = await openClient(transport, mode);
    const heard: (string | undefined)[] = [];
    const notified: string[] = [];
    const receive = transport.onmessage!;
    transport.onmessage = (message, more) => {
      if ('method' in message) notified.push(message.method);
      receive(message, more);
    };
    const call = {
      name: 'shell_exec',
      arguments: { command: 'sh', args: ['-c', 'echo first; echo building; sleep 0.5; echo over'] },
    };
    await client.callTool(call, { onprogress: ({ message }) => heard.push(message) });
    expect(heard[0]).toMatch(/^(first|building)$/);
    expect(notified).toContain('notifications/progress');
    notified.length = 0;
    const silent = await client.callTool(call);
    expect(JSON.stringify(silent)).toContain('building');
    expect(notified).not.toContain('notifications/progress');
  },
);

test('live.D1 output of a job as an async iterable', async () => {
  const job_id = await start('for n in 1 2 3; do echo $n; sleep 0.02; done');
  const stream = bus.stream('shell::output', { job_id, until: { exit: true } });
  let text = '';
  for await (const event of stream) if (event.type === 'output') text += event.text as string;
  expect(text).toBe('1\n2\n3\n');
  expect(await stream.result).toMatchObject({ status: 'finished', text });
});

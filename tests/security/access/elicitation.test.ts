/** A call under an `ask` rule, put to the person at the published MCP clients, and what cannot stand for that person. */
import { existsSync } from 'node:fs';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { operatorKeyIn, type RunningWorkcell } from '#assembly';
import { connect } from '#client';
import { silentLog } from '#contract';
import { tempDir, type TempDir } from '#testing';
import { revisions, textOf } from '../../e2e/support/mcp.ts';
import { startGuarded } from './guarded-cell.ts';

const ACCESS = {
  tokens: [
    { name: 'trusted', env: 'TRUSTED_CLIENT', policy: 'trusted' },
    { name: 'agent', env: 'UNTRUSTED_CLIENT', policy: 'strict' },
  ],
  policies: {
    trusted: [
      { allow: { effect: 'read' } },
      { ask: { permission: ['fs.write', 'process.run'] }, by: 'client', reason: 'changes are reviewed' },
      { allow: { function: 'agent::*' } },
    ],
    strict: [{ allow: { effect: 'read' } }, { ask: { permission: 'fs.write' } }],
  },
};
const SECRETS = { TRUSTED_CLIENT: 'trusted-secret', UNTRUSTED_CLIENT: 'untrusted-secret' };

let dir: TempDir;
let cell: RunningWorkcell;
let http: string;

beforeAll(async () => {
  dir = await tempDir({ 'w/a.txt': 'x\n' });
  Object.assign(process.env, SECRETS);
  const workers = ['coder', 'shell', 'agent'].map((name) => ({ name }));
  ({ cell } = await startGuarded(dir, { access: ACCESS, workers }));
  http = cell.url.replace(/^ws/, 'http');
});
afterAll(async () => {
  await cell?.close();
  await dir?.[Symbol.asyncDispose]();
});

type Action = 'accept' | 'decline' | 'cancel';
interface Tool {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}
type Open = (secret: string, answer: ((message: string) => Action) | undefined) => Promise<Tool>;

const URL_OF = () => new URL(`${http}/mcp?profile=all,coding`);
const headers = (secret: string) => ({ requestInit: { headers: { Authorization: `Bearer ${secret}` } } });
const CAPABLE = { capabilities: { elicitation: {} } };

/** The v1 SDK, which speaks the revision with sessions. */
function v1(load: () => Promise<[unknown, unknown, unknown]>): Open {
  return async (secret, answer) => {
    const [{ Client: V1 }, { StreamableHTTPClientTransport: Http }, { ElicitRequestSchema }] = (await load()) as [
      { Client: new (info: object, options: object) => Tool & Record<string, (...given: unknown[]) => Promise<void>> },
      { StreamableHTTPClientTransport: new (url: URL, options: object) => object },
      { ElicitRequestSchema: unknown },
    ];
    const client = new V1({ name: 'v1', version: '1' }, answer ? CAPABLE : {});
    if (answer) {
      void client.setRequestHandler!(ElicitRequestSchema, ({ params }: { params: { message: string } }) => {
        const action = answer(params.message);
        return { action, ...(action === 'accept' && { content: {} }) };
      });
    }
    await client.connect!(new Http(URL_OF(), headers(secret)));
    return client;
  };
}

const CLIENTS: Record<string, Open> = {
  '1.23.0': v1(() =>
    Promise.all([
      import('mcp-sdk-1-23/client/index.js'),
      import('mcp-sdk-1-23/client/streamableHttp.js'),
      import('mcp-sdk-1-23/types.js'),
    ]),
  ),
  '1.32.2': v1(() =>
    Promise.all([
      import('mcp-sdk-1-32/client/index.js'),
      import('mcp-sdk-1-32/client/streamableHttp.js'),
      import('mcp-sdk-1-32/types.js'),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(revisions).map(([revision, mode]): [string, Open] => [
      `2.4.0 in ${revision}`,
      async (secret, answer) => {
        const client = new Client(
          { name: 'v2', version: '1' },
          { ...(answer && CAPABLE), versionNegotiation: { mode } },
        );
        if (answer) {
          client.setRequestHandler('elicitation/create', ({ params }) => {
            const action = answer(params.message);
            return { action, ...(action === 'accept' && { content: {} }) };
          });
        }
        await client.connect(new StreamableHTTPClientTransport(URL_OF(), headers(secret)));
        return client;
      },
    ]),
  ),
};

const create = (path: string) => ({ files: [{ path, content: 'first line\nsecond\n' }] });

async function callTool(client: Tool, name: string, given: Record<string, unknown>): Promise<string> {
  const result = (await client.callTool({ name, arguments: given })) as { content: { type: string }[] };
  return textOf(result);
}

/** Waits until so many calls wait, and denies them. */
async function denyByOperator(count: number): Promise<void> {
  const person = await connect(cell.url, { name: 'cli', token: operatorKeyIn(dir.path('state')), log: silentLog });
  const waiting = async () =>
    ((await person.call('engine::approvals::list')) as { approvals: { id: string }[] }).approvals;
  await expect.poll(waiting).toHaveLength(count);
  for (const { id } of await waiting()) await person.call('engine::approvals::answer', { id, answer: 'deny' });
  person.close();
}

describe.each(Object.keys(CLIENTS))('the client %s', (version) => {
  const open = CLIENTS[version]!;
  const file = (name: string) => `${name}-${version.replaceAll(/\W/g, '')}.txt`;
  const isThere = (name: string) => existsSync(dir.path(`w/${file(name)}`));

  test('access.P2 asks its person, with what would change, and accept runs the call once', async () => {
    const messages: string[] = [];
    const client = await open(SECRETS.TRUSTED_CLIENT, (message) => {
      messages.push(message);
      return 'accept';
    });
    await callTool(client, 'coder_create_file', create(file('accepted')));
    await client.close();
    expect(isThere('accepted')).toBe(true);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(`Approve coder::create-file`);
    expect(messages[0]).toContain('changes are reviewed');
    expect(messages[0]).toContain(`--- ${file('accepted')}\n+first line\n+second`);
  });

  test('access.P2 shows the command line, also of a call that is made for another', async () => {
    const messages: string[] = [];
    const client = await open(SECRETS.TRUSTED_CLIENT, (message) => {
      messages.push(message);
      return 'accept';
    });
    expect(await callTool(client, 'run', { command: 'echo from-the-agent' })).toContain('from-the-agent');
    await client.close();
    expect(messages.join('\n')).toContain('echo from-the-agent');
  });

  test.each([
    ['decline', 'declined'],
    ['cancel', 'dismissed the question'],
  ] as const)('access.P2 %s denies, with the code and what the person did', async (action, said) => {
    const client = await open(SECRETS.TRUSTED_CLIENT, () => action);
    const text = await callTool(client, 'coder_create_file', create(file(action)));
    await client.close();
    expect(text).toContain('forbidden');
    expect(text).toContain(said);
    expect(isThere(action)).toBe(false);
  });

  test('access.P2 does not ask under a rule that leaves the answer to the operator', async () => {
    const asked = vi.fn(() => 'accept' as const);
    const client = await open(SECRETS.UNTRUSTED_CLIENT, asked);
    const call = callTool(client, 'coder_create_file', create(file('strict')));
    await denyByOperator(1);
    expect(await call).toContain('said no');
    await client.close();
    expect(asked).not.toHaveBeenCalled();
    expect(isThere('strict')).toBe(false);
  });

  test('access.P2 waits for the operator if it declares no elicitation', async () => {
    const client = await open(SECRETS.TRUSTED_CLIENT, undefined);
    const call = callTool(client, 'coder_create_file', create(file('silent')));
    await denyByOperator(1);
    expect(await call).toContain('said no');
    await client.close();
    expect(isThere('silent')).toBe(false);
  });
});

describe('what cannot stand for the person', () => {
  const ACCEPT = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };

  test.each([undefined, 'forged', 'eyJjYWxsIjoiIn0.AAAA'])(
    'access.P2 an answer that was sent before any question, with the state %s',
    async (requestState) => {
      const response = await fetch(URL_OF(), {
        method: 'POST',
        headers: {
          ...ACCEPT,
          Authorization: `Bearer ${SECRETS.TRUSTED_CLIENT}`,
          'MCP-Protocol-Version': '2026-07-28',
          'Mcp-Method': 'tools/call',
          'Mcp-Name': 'coder_create_file',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            ...{ name: 'coder_create_file', arguments: create('unasked.txt') },
            inputResponses: { approval: { action: 'accept', content: {} } },
            ...(requestState !== undefined && { requestState }),
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
              'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
            },
          },
        }),
      });
      const text = await response.text();
      expect(text).toContain(requestState === undefined ? 'input_required' : 'Invalid or expired requestState');
      expect(existsSync(dir.path('w/unasked.txt'))).toBe(false);
    },
  );

  test('access.P2 a peer that answers questions about the call of another, or under a rule for the operator', async () => {
    const open = async (secret: string) => {
      const socket = new WebSocket(cell.url, { headers: { Authorization: `Bearer ${secret}` } });
      const frames: { type: string; invocation_id?: string; event?: { id: string }; error?: unknown }[] = [];
      socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as never));
      await new Promise((resolve) => socket.once('open', resolve));
      return { socket, frames };
    };
    const call = (invocation_id: string, path: string) =>
      JSON.stringify({
        ...{ type: 'invokefunction', invocation_id, function_id: 'coder::create-file', data: create(path) },
        takes_questions: true,
      });
    const answer = (invocation_id: string, id: string) =>
      JSON.stringify({ type: 'invocationevent', invocation_id, seq: 0, event: { type: 'answer', id, approved: true } });

    const trusted = await open(SECRETS.TRUSTED_CLIENT);
    const strict = await open(SECRETS.UNTRUSTED_CLIENT);
    const [mine, theirs] = [crypto.randomUUID(), crypto.randomUUID()];
    trusted.socket.send(call(mine, 'of-another.txt'));
    strict.socket.send(call(theirs, 'of-the-operator.txt'));
    await expect.poll(() => trusted.frames.some(({ event }) => event?.id === mine)).toBe(true);
    strict.socket.send(answer(mine, mine));
    strict.socket.send(answer(theirs, theirs));
    strict.socket.send(JSON.stringify({ type: 'ping' }));
    await expect.poll(() => strict.frames.some(({ type }) => type === 'pong')).toBe(true);
    await denyByOperator(2);
    for (const { frames } of [trusted, strict]) {
      const error = () => frames.find(({ type }) => type === 'invocationresult')?.error;
      await expect.poll(() => JSON.stringify(error())).toContain('said no');
    }
    expect(strict.frames.some(({ event }) => event !== undefined)).toBe(false);
    for (const { socket } of [trusted, strict]) socket.close();
    for (const name of ['of-another.txt', 'of-the-operator.txt']) expect(existsSync(dir.path(`w/${name}`))).toBe(false);
  });
});

import { Server } from '@modelcontextprotocol/server';
import { afterEach, expect, test, vi } from 'vitest';

import { Sessions } from './sessions.ts';

const HOUR_MS = 3_600_000;

afterEach(() => vi.useRealTimers());

/** Sessions with one tool, whose calls end when released or cancelled. */
function sessionsOfOneTool() {
  const ends: (() => void)[] = [];
  const sessions = new Sessions(
    () => {
      const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/call', (_, { mcpReq: { signal } }) => {
        const text = new Promise<string>((resolve) => {
          ends.push(() => resolve('done'));
          signal.addEventListener('abort', () => resolve('cancelled'));
        });
        return text.then((said) => ({ content: [{ type: 'text', text: said }] }));
      });
      return server;
    },
    { maxBodyBytes: 10_000, nextNumber: () => 1 },
  );
  return { sessions, ends };
}

const post = (body: object, sessionId?: string) =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(sessionId && { 'mcp-session-id': sessionId }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });

async function begin(sessions: Sessions, client = 'one'): Promise<string> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const response = await sessions.fetch(post({ id: 1, method: 'initialize', params }), { address: client });
  await response.text();
  return response.headers.get('mcp-session-id')!;
}

/** Whether the session is there after an hour of no use. */
async function isKept(sessions: Sessions, id: string): Promise<boolean> {
  vi.setSystemTime(Date.now() + HOUR_MS);
  await begin(sessions);
  return sessions.has(post({}, id));
}

const calling = (sessions: Sessions, id: string) =>
  sessions.fetch(post({ id: 2, method: 'tools/call', params: { name: 'wait', arguments: {} } }, id), {
    address: 'one',
  });

test('a session whose client left in the middle of a call is not in use', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { sessions, ends } = sessionsOfOneTool();
  const left = await begin(sessions);
  const response = await calling(sessions, left);
  await expect.poll(() => ends).toHaveLength(1);
  await response.body!.cancel();

  await expect.poll(() => isKept(sessions, left)).toBe(false);
  await sessions.close();
});

test('a session in which a call runs is in use, however long that takes', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { sessions, ends } = sessionsOfOneTool();
  const busy = await begin(sessions);
  const idle = await begin(sessions);
  const answer = (await calling(sessions, busy)).text();
  await expect.poll(() => ends).toHaveLength(1);

  vi.setSystemTime(Date.now() + HOUR_MS);
  await begin(sessions);
  expect([busy, idle].map((id) => sessions.has(post({}, id)))).toEqual([true, false]);
  ends[0]!();
  expect(await answer).toContain('done');

  // The last use is recorded just after the last byte was read.
  await expect.poll(() => isKept(sessions, busy)).toBe(false);
  await sessions.close();
});

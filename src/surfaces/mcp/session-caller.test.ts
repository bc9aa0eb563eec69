/** The principal that a session's calls carry. */
import { expect, test } from 'vitest';

import { makePrincipal, silentLog, type Bus, type CallOptions, type Principal } from '#contract';
import { mcpHttp } from './http.ts';
import { callerOf } from './session-caller.ts';

test('it is the same object until the grants or the client change', () => {
  const named: { client?: Principal['client'] } = {};
  const caller = callerOf(makePrincipal('local', 'mcp'), { client: () => named.client, session: 7 });
  const grants = { isReadOnly: true };
  const first = caller(grants);
  expect(first).toMatchObject({ id: 'local:mcp#7', grants: { isReadOnly: true } });
  expect(caller(grants)).toBe(first);
  named.client = { name: 'editor', version: '1' };
  expect(caller(grants)).toMatchObject({ label: 'editor #7', grants: { isReadOnly: true } });
  expect(caller(grants)).toBe(caller(grants));
  expect(caller()).toMatchObject({ label: 'editor #7', grants: {} });
});

test('all calls of a session carry one principal, and each session its own', async () => {
  const callers: unknown[] = [];
  const call = async (id: string, _: unknown, options?: CallOptions) => {
    if (id === 'a::look') callers.push(options?.caller);
    return id === 'engine::functions::list' ? { functions: [{ function_id: 'a::look', metadata: {} }] } : {};
  };
  const bus = { call } as unknown as Bus;
  const door = mcpHttp(bus, { version: '1', maxBodyBytes: 10_000, log: silentLog });
  const post = async (body: object, session = '') => {
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(session && { 'mcp-session-id': session }),
    };
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
    const response = await door.fetch(request, { address: '127.0.0.1' });
    await response.text();
    return response.headers.get('mcp-session-id')!;
  };
  const clientInfo = { name: 'editor', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  for (let session = 0; session < 2; session++) {
    const id = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    for (const number of [2, 3]) {
      await post({ jsonrpc: '2.0', id: number, method: 'tools/call', params: { name: 'a_look' } }, id);
    }
  }
  expect(callers).toMatchObject([1, 1, 2, 2].map((session) => ({ label: `editor #${session}` })));
  expect(callers[1]).toBe(callers[0]);
  expect(callers[3]).toBe(callers[2]);
  await door.close();
});

/** MCP clients that repeat the handshake again and again, beside others that return to an idle session. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

import { expect, test } from 'vitest';

import { silentLog } from '#contract';
import { startWorkcell } from '../../../src/assembly/workcell.ts';

const HANDSHAKES = 270;

interface Answer {
  status: number | undefined;
  session: string | undefined;
}

/** One request from an address of this machine. */
function post(url: string, from: string, body: object, session?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    };
    const target = `${url.replace('ws', 'http')}/mcp`;
    request(target, { method: 'POST', localAddress: from, headers, agent: false }, (response) => {
      const found = response.headers['mcp-session-id'] as string | undefined;
      text(response).then(() => resolve({ status: response.statusCode, session: found }), reject);
    })
      .on('error', reject)
      .end(JSON.stringify({ jsonrpc: '2.0', ...body }));
  });
}

const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const begin = (url: string, from: string) => post(url, from, { id: 1, method: 'initialize', params });
const ping = async (url: string, from: string, session?: string) =>
  (await post(url, from, { id: 2, method: 'ping' }, session)).status;

test.runIf(process.platform === 'linux')(
  `${HANDSHAKES} handshakes end sessions of their own address alone, and there those that were never used first`,
  async () => {
    const cell = await startWorkcell({ host: '127.0.0.1', port: 0, entries: [], log: silentLog });
    const { url } = cell;
    const [used, elsewhere] = [await begin(url, '127.0.0.1'), await begin(url, '127.0.0.2')];
    await ping(url, '127.0.0.1', used.session);

    const flood: Answer[] = [];
    for (let made = 0; made < HANDSHAKES; made++) flood.push(await begin(url, '127.0.0.1'));
    expect(flood.filter(({ status }) => status !== 200)).toEqual([]);
    const alive = {
      elsewhere: await ping(url, '127.0.0.2', elsewhere.session),
      used: await ping(url, '127.0.0.1', used.session),
      first: await ping(url, '127.0.0.1', flood[0]!.session),
      last: await ping(url, '127.0.0.1', flood.at(-1)!.session),
    };
    await cell.close();
    expect(alive).toEqual({ elsewhere: 200, used: 200, first: 404, last: 200 });
  },
);

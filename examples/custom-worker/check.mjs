/** Starts the worker beside a running engine and calls it as others would: over HTTP and as an MCP tool. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const base = (process.env.III_URL ?? 'ws://127.0.0.1:49134').replace('ws', 'http');
const worker = spawn(process.execPath, [fileURLToPath(new URL('worker.mjs', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const client = new Client({ name: 'check', version: '1.0.0' });
try {
  for await (const text of worker.stdout.setEncoding('utf8')) if (text.includes('ready')) break;

  const body = JSON.stringify({ path: 'a.js', note: 'off by one' });
  const answer = await fetch(`${base}/functions/reviews/add`, { method: 'POST', body });
  assert.deepEqual(await answer.json(), { count: 1 });
  console.log('ok: over HTTP');

  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp?profile=all`)));
  const tool = (await client.listTools()).tools.find(({ name }) => name === 'reviews_add');
  assert.equal(tool.description, 'Leave a review note on a file.');
  const result = await client.callTool({ name: 'reviews_add', arguments: { path: 'b.js', note: 'unused' } });
  assert.deepEqual(result.content, [{ type: 'text', text: 'count: 2' }]);
  console.log('ok: as an MCP tool');
} finally {
  await client.close();
  const ended = once(worker, 'exit');
  worker.kill();
  await ended;
}

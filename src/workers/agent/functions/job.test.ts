import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { agentCell } from '#testing';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('agent.C19 a server is started, waited for by its port, read and stopped, without a pause of the caller', async () => {
  await using cell = await agentCell({
    'server.mjs': `import { createServer } from 'node:http';
createServer((_, response) => { console.log('asked'); response.end('hello'); }).listen(Number(process.argv[2]), '127.0.0.1');`,
  });
  const port = await freePort();
  const command = `'${process.execPath}' server.mjs ${port}`;
  expect(await cell.text('run', { command, background: true, until: { port } })).toBe('j1: running (the port is open)');
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('hello');
  expect(await cell.text('job', { id: 'j1', until: { text: 'ask.d' } })).toBe(
    'j1: running (output matches: asked)\nasked',
  );
  expect(await cell.text('job', { id: 'j1' })).toBe('j1: running');
  expect(await cell.text('job', { id: 'j1', stop: true })).toBe('j1: killed (nothing of it runs)');
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
});

test('agent.C20 a program that asks gets input and answers; its end is reported with its exit code', async () => {
  await using cell = await agentCell();
  await cell.text('run', { command: 'while read x; do echo "got $x"; done; echo bye; exit 4', background: true });
  expect(await cell.text('job', { id: 'j1', input: 'one\ntwo\n' })).toBe('j1: running\ngot one\ngot two');
  expect(await cell.text('output', { id: 'j1', grep: 'two' })).toBe('2: got two');
  await cell.text('run', { command: 'sleep 0.2; echo later; exit 5', background: true });
  expect(await cell.text('job', { id: 'j2', wait_s: 30 })).toBe('j2: failed, exit 5\nlater');
  expect(await cell.text('job', { id: 'j9' })).toBe('A224: there is no job j9 in this session; there are j1, j2');
});

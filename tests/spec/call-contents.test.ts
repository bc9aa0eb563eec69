/** Payloads and results of calls: recorded while a page of this server watches, returned to no other caller. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';

import { connect, type Connection } from '#client';
import { startEngine, type TestEngine } from '#testing';
import { errors, worker } from './test-worker.ts';

const dig = worker.defineFunction({
  id: 'digger::dig',
  summary: 'Digs.',
  effect: 'read',
  permissions: [],
  request: z.object({ depth: z.number(), token: z.string().optional() }),
  response: z.object({ found: z.string() }),
  errors: ['D1'],
  examples: [],
  handle({ depth }, _, { noteChange }) {
    noteChange?.({ path: 'yard', kind: 'modified', after: { bytes: depth } });
    if (depth > 9) throw errors.fail('D1', {});
    return { found: `${depth} bones` };
  },
});

let running: TestEngine;
let serving: Connection;
let agent: Connection;
let pages: Page[];
beforeEach(async () => {
  pages = [];
  running = await startEngine({ allowedOrigins: ['https://friend.example'] });
  serving = await connect(running.url, { name: 'digger' });
  serving.serve({ def: worker.withFunctions([dig]), context: {} });
  agent = await connect(running.url, { name: 'agent' });
  await expect.poll(() => agent.call('engine::functions::list').then(JSON.stringify)).toContain('digger::dig');
});
afterEach(async () => {
  for (const page of pages) page.close();
  agent.close();
  serving.close();
  await running[Symbol.asyncDispose]();
});

interface Page {
  call(functionId: string, data?: object): Promise<unknown>;
  close(): void;
}

/** A peer as a browser connects it: with the origin of the page. */
async function openPage(origin = running.url.replace(/^ws/, 'http')): Promise<Page> {
  const socket = new WebSocket(running.url, { origin });
  const waiting = new Map<string, (reply: unknown) => void>();
  socket.on('message', (text: Buffer) => {
    const frame = JSON.parse(text.toString()) as { invocation_id?: string; result?: unknown; error?: { code: string } };
    waiting.get(frame.invocation_id ?? '')?.(frame.error ? frame.error.code : frame.result);
  });
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const page: Page = {
    call(function_id, data = {}) {
      const invocation_id = crypto.randomUUID();
      socket.send(JSON.stringify({ type: 'invokefunction', invocation_id, function_id, data }));
      return new Promise((resolve) => waiting.set(invocation_id, resolve));
    },
    close: () => socket.close(),
  };
  pages.push(page);
  return page;
}

async function lastId(): Promise<string> {
  const { ended } = (await agent.call('engine::calls::list')) as { ended: { id: string }[] };
  return ended.at(-1)!.id;
}

test('mcp.P12 nothing is kept before a page watches, and what came since is there with its answer', async () => {
  const page = await openPage();
  await agent.call('digger::dig', { depth: 1 });
  const early = await lastId();
  expect(await page.call('engine::calls::watch')).toEqual({ watchers: 1, kept_bytes: 0, max_bytes: 16 * 1024 * 1024 });
  await agent.call('digger::dig', { depth: 2, token: 'hush' });

  const id = await lastId();
  expect([await page.call('engine::calls::get', { id }), await page.call('engine::calls::get', { id: early })]).toEqual(
    [
      {
        id,
        payload: { value: { depth: 2, token: '•••' }, cut: false, masked: true },
        outcome: { kind: 'result', value: { found: '2 bones' }, cut: false, masked: false },
        changes: [{ path: 'yard', kind: 'modified', after: { bytes: 2 } }],
      },
      'NOT_FOUND',
    ],
  );
});

test('failures are kept too: of the worker, and of the engine for a call that reached no worker', async () => {
  const page = await openPage();
  await page.call('engine::calls::watch');
  await agent.call('digger::dig', { depth: 10 }).catch(() => {});
  const failed = await page.call('engine::calls::get', { id: await lastId() });
  await agent.call('digger::fly', { high: true }).catch(() => {});
  const refused = await page.call('engine::calls::get', { id: await lastId() });

  expect([failed, refused]).toMatchObject([
    {
      payload: { value: { depth: 10 } },
      outcome: { kind: 'error', value: { message: expect.stringContaining('"code":"D1"') } },
    },
    { payload: { value: { high: true } }, outcome: { kind: 'error', value: { code: 'function_not_found' } } },
  ]);
});

test('bus.P19 changes are asked for while a page watches, reported with failures too, and not sent to a caller that did not ask', async () => {
  const page = await openPage();
  const frames: string[] = [];
  const socket = new WebSocket(running.url);
  socket.on('message', (text: Buffer) => frames.push(text.toString()));
  await new Promise((resolve) => socket.on('open', resolve));
  const dig = (depth: number) => {
    const invocation_id = crypto.randomUUID();
    const frame = { type: 'invokefunction', invocation_id, function_id: 'digger::dig', data: { depth } };
    socket.send(JSON.stringify(frame));
    return expect.poll(() => frames.find((text) => text.includes(invocation_id))).toBeDefined();
  };
  try {
    await dig(1);
    await page.call('engine::calls::watch');
    await dig(2);
    await dig(10);
    expect(await page.call('engine::calls::get', { id: await lastId() })).toMatchObject({
      outcome: { kind: 'error' },
      changes: [{ path: 'yard', after: { bytes: 10 } }],
    });
    expect(frames.filter((text) => text.includes('yard'))).toEqual([]);
  } finally {
    socket.close();
  }
});

test('bus.P19 a caller that asks gets the changes of its call, also when it fails, and no page needs to watch', async () => {
  const heard: unknown[] = [];
  const onChanges = (changes: readonly unknown[]) => heard.push(changes);
  await agent.call('digger::dig', { depth: 3 }, { onChanges });
  await expect(agent.call('digger::dig', { depth: 10 }, { onChanges })).rejects.toThrow();
  const yard = (bytes: number) => [{ path: 'yard', kind: 'modified', after: { bytes } }];
  expect(heard).toEqual([yard(3), yard(10)]);
});

test('changes that are not in the shape of changes are left out', async () => {
  const page = await openPage();
  await page.call('engine::calls::watch');
  const rogue = new WebSocket(running.url);
  rogue.on('message', (text: Buffer) => {
    const { type, invocation_id, function_id } = JSON.parse(text.toString()) as Record<string, string>;
    if (type !== 'invokefunction') return;
    rogue.send(
      JSON.stringify({ type: 'invocationresult', invocation_id, function_id, result: 1, changes: [{ path: 7 }] }),
    );
  });
  await new Promise((resolve) => rogue.on('open', resolve));
  try {
    rogue.send(JSON.stringify({ type: 'registerfunction', id: 'rogue::run' }));
    await expect.poll(() => agent.call('rogue::run').catch(() => 'not yet')).toBe(1);
    expect(await page.call('engine::calls::get', { id: await lastId() })).toMatchObject({ changes: null });
  } finally {
    rogue.close();
  }
});

test('mcp.P12 with the last page that watches, everything is forgotten', async () => {
  const [one, two] = [await openPage(), await openPage()];
  await one.call('engine::calls::watch');
  await two.call('engine::calls::watch');
  await agent.call('digger::dig', { depth: 3 });
  const id = await lastId();

  one.close();
  await expect.poll(() => two.call('engine::calls::watch')).toMatchObject({ watchers: 1 });
  expect(await two.call('engine::calls::get', { id })).toMatchObject({ id });
  expect(await two.call('engine::calls::watch', { on: false })).toMatchObject({ watchers: 0, kept_bytes: 0 });
  expect(await two.call('engine::calls::get', { id })).toBe('NOT_FOUND');
});

test.each(['engine::calls::watch', 'engine::calls::get'])(
  'mcp.P12 %s answers no peer without the origin of this server, whatever it calls itself',
  async (id) => {
    const page = await openPage();
    await page.call('engine::calls::watch');
    await agent.call('digger::dig', { depth: 4 });
    const payload = { id: await lastId() };
    const imposter = await connect(running.url, { name: 'console' });
    const friend = await openPage('https://friend.example');
    const inProcess = await connect(running.engine.dialer(), { name: 'http' });
    try {
      const refusal = { code: 'console_only' };
      await expect(agent.call(id, payload)).rejects.toMatchObject(refusal);
      await expect(imposter.call(id, payload)).rejects.toMatchObject(refusal);
      await expect(inProcess.call(id, payload)).rejects.toMatchObject(refusal);
      expect(await friend.call(id, payload)).toBe('console_only');
      expect(await page.call(id, payload)).not.toBe('console_only');
    } finally {
      imposter.close();
      inProcess.close();
    }
  },
);

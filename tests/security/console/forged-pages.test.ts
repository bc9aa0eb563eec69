/**
 * Programs that claim to be a console page, by the headers that a browser would send, where callers have policies.
 *
 * A console page may read payloads and deny, cancel, pause and stop calls: a forged header must not grant that past a
 * policy.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { operatorKeyIn, type RunningWorkcell } from '#assembly';
import { connect, type Connection } from '#client';
import { silentLog } from '#contract';
import { tempDir, type TempDir } from '#testing';
import { startGuarded } from '../access/guarded-cell.ts';

const SECRETS = {
  victim: 'secret-of-the-victim',
  reader: 'secret-of-a-reader',
  open: 'secret-of-any',
  none: 'secret-0',
};
const WITHOUT_POLICY = 'secret-without-a-policy';
const TOKENS = [
  { name: 'victim', env: 'PAGES_VICTIM', policy: 'asks' },
  { name: 'reader', env: 'PAGES_READER', policy: 'read-only' },
  { name: 'open', env: 'PAGES_OPEN', policy: 'open' },
  { name: 'none', env: 'PAGES_NONE', policy: 'nothing' },
  { name: 'nopolicy', env: 'PAGES_NOPOLICY' },
];
const POLICIES = { asks: [{ allow: {} }, { ask: { permission: 'fs.write' } }], nothing: [] };
const PLANTED = 'planted-payload';

let dir: TempDir;
let cell: RunningWorkcell;
let port: string;
let victim: Connection;
/** Of the victim's call, which waits for a person. */
let written: Promise<unknown>;
let waitingId: string;

beforeAll(async () => {
  dir = await tempDir({ 'w/a.txt': 'x\n' });
  for (const [name, secret] of Object.entries({ ...SECRETS, nopolicy: WITHOUT_POLICY }))
    process.env[`PAGES_${name.toUpperCase()}`] = secret;
  const access = { tokens: TOKENS, policies: POLICIES, local: 'open' };
  ({ cell } = await startGuarded(dir, { access, workers: [{ name: 'coder' }] }));
  ({ port } = new URL(cell.url));
  victim = await connect(cell.url, { name: 'victim', token: SECRETS.victim, log: silentLog });
  written = victim.call(
    'coder::create-file',
    { files: [{ path: 'new.txt', content: PLANTED }] },
    { timeoutMs: 300_000 },
  );
  written.catch(() => {});
  const person = await page(operatorKeyIn(dir.path('state')), browserLike()[0]!);
  const waiting = async () => {
    const { result } = await person.call('engine::approvals::list', {});
    return (result as { approvals: { id: string }[] } | undefined)?.approvals[0]?.id;
  };
  let id = await waiting();
  for (let left = 1_500; id === undefined; left--) {
    if (left === 0) throw new Error('the call of the victim is not listed as waiting for an approval');
    await sleep(20);
    id = await waiting();
  }
  waitingId = id;
  person.close();
}, 60_000);
afterAll(async () => {
  victim?.close();
  await cell?.close();
  await dir?.[Symbol.asyncDispose]();
  for (const { env } of TOKENS) delete process.env[env];
});

/** Requests of a page of this server, on every name that the server has. */
function browserLike(): Record<string, string>[] {
  const own = (host: string) => ({ Host: `${host}:${port}`, Origin: `http://${host}:${port}` });
  return [
    own('127.0.0.1'),
    { ...own('localhost'), 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'websocket', 'Sec-Fetch-Dest': 'empty' },
    { ...own('127.0.0.1'), 'User-Agent': 'Mozilla/5.0 Chrome/140.0', Referer: `http://127.0.0.1:${port}/` },
    { ...own('[::1]'), Cookie: 'workcell=page' },
  ];
}

interface Reply {
  result?: unknown;
  error?: { code: string; message: string };
}

async function page(token: string | undefined, headers: Record<string, string>) {
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { headers: { ...headers, ...authorization } });
  const waiting = new Map<string, (reply: Reply) => void>();
  socket.on('message', (text: Buffer) => {
    const frame = JSON.parse(text.toString()) as Reply & { invocation_id?: string };
    waiting.get(frame.invocation_id ?? '')?.(frame);
  });
  await once(socket, 'open');
  const introduced = { name: 'console', description: 'The web console.', runtime: 'browser' };
  const register = { function_id: 'engine::workers::register', action: { type: 'void' }, data: introduced };
  socket.send(JSON.stringify({ type: 'invokefunction', ...register }));
  return {
    call(function_id: string, data: object): Promise<Reply> {
      const invocation_id = randomUUID();
      const reply = new Promise<Reply>((resolve) => waiting.set(invocation_id, resolve));
      socket.send(JSON.stringify({ type: 'invokefunction', invocation_id, function_id, data }));
      return reply;
    },
    close: () => socket.close(),
  };
}

/** Actions that only a person may take, tried on the victim. */
function acts(): [id: string, payload: object][] {
  return [
    ['engine::calls::watch', { on: true }],
    ['engine::approvals::list', {}],
    ['engine::calls::get', { id: waitingId }],
    ['engine::callers::pause', { id: 'token:victim', on: true }],
    ['engine::callers::stop', { id: 'token:victim' }],
    ['engine::calls::cancel', { id: waitingId }],
    ['engine::approvals::answer', { id: waitingId, answer: 'deny' }],
    ['engine::approvals::answer', { id: waitingId, answer: 'approve' }],
    ['engine::approvals::answer', { id: waitingId, answer: 'always' }],
  ];
}

const REFUSALS = ['forbidden', 'console_only', 'operator_only'];

test('access.P7 a caller with a policy that claims to be a page sees and ends no call of others', async () => {
  let count = 0;
  const through: string[] = [];
  for (const [name, secret] of [['local', undefined], ...Object.entries(SECRETS)] as const) {
    for (const [at, headers] of browserLike().entries()) {
      const claimant = await page(secret, headers);
      for (const [id, payload] of acts()) {
        const reply = await claimant.call(id, payload);
        count += 1;
        if (!REFUSALS.includes(reply.error?.code ?? '')) through.push(`${name} ${at} ${id}: ${JSON.stringify(reply)}`);
      }
      const listed = await claimant.call('engine::calls::list', {});
      count += 1;
      if (JSON.stringify(listed).includes('new.txt')) through.push(`${name} ${at} sees the line of the call`);
      claimant.close();
    }
  }
  expect(through).toEqual([]);
  expect(count).toBe(5 * 4 * 10);
});

test('a caller with a policy that claims to be a page is listed, and its reads too', async () => {
  const claimant = await page(SECRETS.open, browserLike()[0]!);
  await claimant.call('coder::read-file', { path: 'a.txt' });
  const listed = JSON.stringify([
    await claimant.call('engine::callers::list', {}),
    await claimant.call('engine::calls::list', {}),
  ]);
  expect(listed).toContain('"token:open');
  expect(listed).toContain('coder::read-file');
  claimant.close();
});

test('a page of a caller without a policy sees what waits, and with the operator’s key it approves', async () => {
  const plain = await page(WITHOUT_POLICY, browserLike()[1]!);
  expect(JSON.stringify(await plain.call('engine::approvals::list', {}))).toContain(PLANTED);
  const approve = { id: waitingId, answer: 'approve' };
  expect((await plain.call('engine::approvals::answer', approve)).error?.code).toBe('operator_only');
  plain.close();
  const person = await page(operatorKeyIn(dir.path('state')), browserLike()[1]!);
  expect(await person.call('engine::calls::watch', { on: true })).toMatchObject({ result: { watchers: 1 } });
  expect(await person.call('engine::approvals::answer', approve)).toMatchObject({ result: { answered: true } });
  expect(await written).toMatchObject({ results: [{ success: true }] });
  person.close();
});

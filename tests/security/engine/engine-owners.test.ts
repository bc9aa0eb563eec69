/** Peers that claim the ids of workers in this process: queued for them, or registered before them. */
import { setImmediate } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { connect } from '#client';
import { defineErrors, defineWorker, parseConfig, silentLog } from '#contract';
import { rounds, tempDir, type TempDir } from '#testing';
import { coder as coderWorker } from '#workers/coder';
import type { WorkerEntry } from '../../../src/assembly/config-file.ts';
import { startWorkcell, type RunningWorkcell } from '../../../src/assembly/workcell.ts';
import { Peer } from './peer-socket.ts';

const CALLS = rounds(200, 1_000, 10_000);
const RELOADS = rounds(5, 20, 100);
const CONTENT = 'what the file really holds\n';

let dir: TempDir;
let cell: RunningWorkcell;
beforeAll(async () => {
  dir = await tempDir({ 'a.txt': CONTENT });
  cell = await startWorkcell({ host: '127.0.0.1', port: 0, entries: [], log: silentLog });
});
afterAll(async () => {
  await cell.close();
  await dir[Symbol.asyncDispose]();
});

/** The coder, with a setting that distinguishes one configuration from the next. */
const coder = (reload = 0, namespace?: string): WorkerEntry => ({
  def: coderWorker,
  namespace,
  config: parseConfig(coderWorker.config, { base_path: dir.root, max_read_bytes: 1_000 + reload }, 'coder'),
});

const READ = 'coder::read-file';

/** A peer that claims an id and would answer with a forgery. */
async function forger(namespace?: string) {
  const peer = await Peer.dial(cell.url);
  const seen: unknown[] = [];
  peer.answer(READ, (call) => {
    seen.push(call.data);
    return { content: 'forged' };
  });
  if (namespace !== undefined) await peer.call('engine::workers::register', { name: 'x', pid: 1, namespace });
  await peer.register(READ);
  const wasRefused = () => peer.frames.some((frame) => frame.type === 'registrationrejected');
  return { peer, seen, wasRefused, [Symbol.dispose]: () => peer[Symbol.dispose]() };
}

async function read(url: string, namespace?: string): Promise<unknown> {
  const query = namespace === undefined ? '' : `?namespace=${namespace}`;
  const response = await fetch(`${url.replace('ws', 'http')}/functions/coder/read-file${query}`, {
    method: 'POST',
    body: '{"path":"a.txt"}',
  });
  return ((await response.json()) as { content?: string }).content ?? response.status;
}

describe('bus.P6 a peer', () => {
  test(`waiting for an id that another serves sees none of ${CALLS} calls during ${RELOADS} reloads, and each is answered`, async () => {
    await cell.workers.apply([coder()]);
    using evil = await forger();
    const caller = await connect(cell.engine.dialer(), { name: 'caller' });
    let isOver = false;
    const reloading = (async () => {
      for (let reload = 1; reload <= RELOADS; reload++) await cell.workers.apply([coder(reload)]);
    })().finally(() => (isOver = true));
    const answers: Record<string, number> = {};
    const count = (answer: string) => (answers[answer] = (answers[answer] ?? 0) + 1);
    for (let made = 0; made < CALLS || !isOver; made += 10) {
      // Calls in memory alone would keep the reloads from their turns.
      await setImmediate();
      const batch = Array.from({ length: 10 }, () => caller.call(READ, { path: 'a.txt' }));
      for (const outcome of await Promise.allSettled(batch))
        count(outcome.status === 'rejected' ? String(outcome.reason) : (outcome.value as { content: string }).content);
    }
    await reloading;
    caller.close();
    expect(Object.keys(answers)).toEqual([CONTENT]);
    expect([await read(cell.url), evil.seen, evil.wasRefused()]).toEqual([CONTENT, [], true]);

    await cell.workers.apply([]);
    expect([await read(cell.url), evil.seen]).toEqual([404, []]);
  });

  test('that has the id before the worker starts loses it, and is notified', async () => {
    using evil = await forger();
    expect([await read(cell.url), evil.wasRefused()]).toEqual(['forged', false]);
    await cell.workers.apply([coder()]);
    await evil.peer.settled();
    expect([await read(cell.url), evil.wasRefused(), evil.seen.length]).toEqual([CONTENT, true, 1]);
    await cell.workers.apply([coder(1)]);
    expect([await read(cell.url), evil.seen.length]).toEqual([CONTENT, 1]);
  });

  test.each(['first', 'last'])('that moves into the namespace of a worker (%s) has nothing there', async (when) => {
    await cell.workers.apply(when === 'first' ? [] : [coder(0, 'app')]);
    using evil = await forger('app');
    await cell.workers.apply([coder(0, 'app')]);
    await cell.workers.apply([coder(1, 'app')]);
    await evil.peer.settled();
    expect([await read(cell.url, 'app'), evil.seen, evil.wasRefused()]).toEqual([CONTENT, [], true]);
  });

  test('still waits in line behind another peer', async () => {
    await cell.workers.apply([]);
    const first = await forger();
    using second = await forger();
    await read(cell.url);
    first.peer[Symbol.dispose]();
    await expect.poll(() => read(cell.url)).toBe('forged');
    expect([first.seen.length, second.wasRefused()]).toEqual([1, true]);
  });
});

test('a reload whose functions are refused fails with their names and changes nothing', async () => {
  await cell.workers.apply([coder()]);
  const errors = defineErrors({ X: { meaning: '', http: 500, message: (_: object) => '' } });
  const fail = () => errors.fail('X', {});
  const config = z.strictObject({});
  const failures = { badInput: fail, internal: fail, deadline: fail };
  let closed = 0;
  const worker = defineWorker({
    name: 'w',
    summary: '',
    config,
    errors,
    failures,
    open: () => ({}),
    close: () => void closed++,
  });
  const any = {
    effect: 'read',
    permissions: [],
    request: z.object({}),
    response: z.unknown(),
    errors: [],
    examples: [],
  } as const;
  const fn = (id: string) => ({ ...any, id, summary: '', handle: () => 1 });
  const def = worker.withFunctions([fn('w::fine'), fn('engine::workers::info')]);
  await expect(cell.workers.apply([coder(1), { def, config: {} }])).rejects.toThrow(
    'the engine refused functions of w: engine::workers::info; its log says why',
  );
  expect([await read(cell.url), closed, cell.workers.names]).toEqual([CONTENT, 1, ['coder']]);
});

describe('a peer that says it is a worker of this process', () => {
  interface Row {
    id: string;
    name: string;
    isolation: string | null;
  }
  const rows = async (peer: Peer): Promise<Row[]> => (await peer.call('engine::workers::list')).result.workers;
  const introduce = (peer: Peer, name: string, isolation = 'in-process') =>
    peer.call('engine::workers::register', { name, isolation, pid: 1 });

  test.each(['coder', ' Coder ', '\uff43oder', 'co\u200bder', 'workcell:http', 'CODER\u0000'])(
    '%j: is listed by its id, as not in this process',
    async (name) => {
      await cell.workers.apply([coder()]);
      using evil = await Peer.dial(cell.url);
      await introduce(evil, name, name === 'coder' ? ' In-Process' : 'in-process');
      const listed = await rows(evil);
      const inProcess = listed.filter(({ isolation }) => isolation === 'in-process').map((row) => row.name);
      expect(inProcess.toSorted()).toEqual(['coder', 'workcell:http']);
      const own = listed.find(({ id, name: shown }) => id === shown);
      expect(own).toMatchObject({ isolation: null });
      await evil.call('coder::tree');
      const { ended } = (await evil.call('engine::calls::list')).result;
      const { caller, caller_id, principal } = ended.at(-1);
      expect([caller, caller_id, principal.client.name]).toEqual([own!.id, `local:${own!.id} ${own!.id}`, own!.id]);
    },
  );

  test('and came first loses the name when the worker starts, also for engine::workers::info', async () => {
    await cell.workers.apply([]);
    using evil = await Peer.dial(cell.url);
    await introduce(evil, 'coder', 'docker');
    expect(await rows(evil)).toContainEqual(expect.objectContaining({ name: 'coder', isolation: 'docker' }));
    await cell.workers.apply([coder()]);
    await cell.workers.apply([coder(1)]);
    const { result } = await evil.call('engine::workers::info', { name: 'coder' });
    expect([result.worker.isolation, result.worker.ip_address]).toEqual(['in-process', null]);
    const named = (await rows(evil)).filter(({ name }) => name === 'coder');
    expect(named).toHaveLength(1);
  });
});

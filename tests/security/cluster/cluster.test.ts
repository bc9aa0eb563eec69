/** Hostile nodes: what NATS users may do, and what a node survives from those that may speak to it. */
import { connect as dial, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { makeUsers } from '#cluster';
import { rounds, tempDir, type TempDir } from '#testing';
import { NatsServers, NO_NATS } from '../../../src/testing/nats.ts';
import { startNode, untilKnown, type TestNode } from '../../cluster/support/nodes.ts';

const ID = '0badc0de';
const KINDS = ['call', 'result', 'cancel', 'ask', 'piece', 'block', 'chan'];

describe.skipIf(NO_NATS)('users of NATS (needs nats-server)', () => {
  let nats: NatsServers;
  let dir: TempDir;
  let door: TestNode;
  let host: TestNode;
  let thief: NatsConnection;
  const refused: string[] = [];

  beforeAll(async () => {
    const names = ['door', 'host', 'stolen'];
    const { block, seeds } = await makeUsers(
      'default',
      names.map((name) => ({ name, isDoor: name === 'door' })),
    );
    dir = await tempDir(Object.fromEntries(seeds));
    nats = await NatsServers.start({ extra: block });
    const as = (name: string, roles: ('door' | 'host')[]) =>
      startNode(nats.urls, name, { nkeyFile: dir.path(name), roles });
    [door, host] = await Promise.all([as('door', ['door', 'host']), as('host', ['host'])]);
    await untilKnown(door, 'host');
    const authenticator = nkeyAuthenticator(Buffer.from(seeds.get('stolen')!));
    thief = await dial({ servers: nats.urls, authenticator, inboxPrefix: '_INBOX.stolen' });
    void (async () => {
      for await (const status of thief.status()) if (status.type === 'error') refused.push(status.error.message);
    })();
  });
  afterAll(async () => {
    await thief?.close();
    await Promise.all([door, host].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
    await dir?.[Symbol.asyncDispose]();
  });

  test('cluster.X10 a host with the key of its own node can call nothing, and speak for no other node', async () => {
    const call = JSON.stringify({
      type: 'invokefunction',
      invocation_id: 'x',
      function_id: 'work::once',
      data: { key: 'x' },
    });
    const to = `wc1.default.host.${host.cluster.self.id}`;
    const forged = [
      `${to}.call.stolen.${ID}`,
      `${to}.cancel.stolen.${ID}`,
      `${to}.ask.stolen.${ID}`,
      `${to}.block.stolen.${ID}`,
      `wc1.default.host.name.stolen.${ID}`,
      `wc1.default.host.name.host.${ID}`,
      `_INBOX.door.${ID}`,
      `_INBOX.host.${ID}`,
      ...['call', 'result', 'piece', 'chan'].map((kind) => `${to}.${kind}.door.${door.cluster.self.id}`),
      `wc1.default.all.beat.door.${ID}`,
      `wc1.default.all.leave.host.${host.cluster.self.id}`,
      ...['hello', 'join'].map((kind) => `wc1.default.all.${kind}.door.${ID}`),
    ];
    for (const subject of forged) thief.publish(subject, call);
    await thief.flush();
    await expect.poll(() => refused.length).toBe(forged.length);
    expect(host.ran.size).toBe(0);
    expect(await door.bus.call('work::once', { key: 'ok' }, { namespace: 'host' })).toEqual({ key: 'ok', by: 'host' });
  });

  test('cluster.X11 it hears neither the others nor their answers, and nothing joins without a key', async () => {
    const errors: Error[] = [];
    const heard: string[] = [];
    for (const subject of [
      'wc1.default.all.beat.>',
      'wc1.default.door.>',
      'wc1.default.host.>',
      '_INBOX.door.>',
      '>',
    ]) {
      thief.subscribe(subject, {
        callback: (error, message) => void (error ? errors.push(error) : heard.push(message.subject)),
      });
    }
    await thief.flush();
    await door.bus.call('work::echo', { secret: 1 }, { namespace: 'host' });
    await expect.poll(() => errors.length).toBe(5);
    expect(heard).toEqual([]);
    await expect(dial({ servers: nats.urls })).rejects.toThrow(/authorization/i);
    await expect(startNode(nats.urls, 'door2', { nkeyFile: dir.path('door') })).rejects.toThrow(
      'may not be node door2',
    );
  });
});

describe.skipIf(NO_NATS)('messages of a hostile node that may speak (needs nats-server)', () => {
  let nats: NatsServers;
  let a: TestNode;
  let b: TestNode;
  let raw: NatsConnection;
  beforeAll(async () => {
    nats = await NatsServers.start();
    [a, b] = await Promise.all([startNode(nats.urls, 'a'), startNode(nats.urls, 'b', { share: ['work'] })]);
    await untilKnown(a, 'b');
    raw = await dial({ servers: nats.urls });
  });
  afterAll(async () => {
    await raw?.close();
    await Promise.all([a, b].map((node) => node?.[Symbol.asyncDispose]()));
    await nats?.[Symbol.asyncDispose]();
  });

  const to = (kind: string, from = 'evil', id = ID) => `wc1.default.b.${b.cluster.self.id}.${kind}.${from}.${id}`;
  const works = async (key: string) =>
    expect(await a.bus.call('work::once', { key }, { namespace: 'b' })).toEqual({ key, by: 'b' });

  test('cluster.X12 garbage on every subject changes nothing', async () => {
    const garbage = [
      Buffer.alloc(0),
      Buffer.from('{'),
      Buffer.from('null'),
      Buffer.from('[]'),
      Buffer.of(1),
      Buffer.from('\u0001{"key":"x","bytes":1e15,"call":"y"}'),
      Buffer.from(`\u0001{"key":"${'0'.repeat(32)}","bytes":67108864,"call":"y"}`),
      Buffer.from('{"type":"invokefunction","function_id":""}'),
      Buffer.from('{"type":"registerfunction","id":"work::once"}'),
      Buffer.from('{"type":"invocationresult","invocation_id":"x"}'),
      Buffer.alloc(900_000, 0x7b),
    ];
    const toAll = (kind: string, all: Buffer[]) => {
      for (const data of all) raw.publish(`wc1.default.all.${kind}.evil.${ID}`, data);
    };
    for (let round = 0; round < rounds(20, 500, 20_000); round++) {
      for (const kind of [...KINDS, 'unheard', 'name']) {
        for (const data of garbage.slice(0, round === 0 ? undefined : -1)) raw.publish(to(kind), data);
        raw.publish(to(kind), Buffer.from(Array.from({ length: 64 }, () => Math.floor(Math.random() * 256))));
      }
      for (const kind of ['beat', 'hello', 'join']) toAll(kind, garbage.slice(0, -1));
    }
    // Only at the end: of a node that left, nothing is read.
    toAll('leave', garbage.slice(0, -1));
    await raw.flush();
    await works('x12');
    expect(b.ran).toEqual(new Map([['x12', 1]]));
  });

  test('cluster.X13 too many ids, an oversized report and a block that lies are dropped', async () => {
    await onlyProperQuestionsAreAnswered();
    const report = {
      v: 1,
      every_ms: 1_000,
      conn: 1,
      joined_ms: 0,
      state: 'up',
      version: '',
      roles: ['host'],
      aliases: [],
    };
    raw.publish(`wc1.default.all.beat.fat.${ID}`, JSON.stringify({ ...report, version: 'x'.repeat(9_000) }));
    raw.publish(`wc1.default.all.beat.liar.0badc0df`, JSON.stringify({ ...report, catalogue: '0'.repeat(64) }));
    const asked: string[] = [];
    raw.subscribe('wc1.default.liar.>', {
      callback: (_, message) => {
        asked.push(message.subject);
        message.respond('[{"scope":"one","namespace":"default","since_ms":0,"functions":"x"}]');
      },
    });
    await raw.flush();
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    // Another node may have asked first.
    await expect.poll(() => b.cluster.nodes().find(({ name }) => name === 'liar')).toMatchObject({ functions: 0 });
    expect(b.cluster.nodes().map(({ name }) => name)).not.toContain('fat');
    await works('x13');
  });

  /** Messages of one sender arrive in their order: an answer to the last shows that the others got none. */
  async function onlyProperQuestionsAreAnswered(): Promise<void> {
    const answers = new Map<string, { unknown: string[] }>();
    raw.subscribe('answers.*', {
      callback: (_, message) => void answers.set(message.subject, message.json()),
    });
    const ask = (name: string, count: number, digits = 1) => {
      const calls = Array.from({ length: count }, (_, at) => String(at).padStart(digits, '0'));
      raw.publish(to('ask', 'evil', '0badc0d0'), JSON.stringify({ calls }), { reply: `answers.${name}` });
    };
    ask('one-more', 8_001);
    // As many as one message of the server's default size carries.
    ask('a-megabyte', 100_000, 6);
    ask('too-many-bytes', 8_000, 100);
    ask('most', 8_000);
    await expect.poll(() => answers.size).toBeGreaterThan(0);
    expect([...answers].map(([subject, { unknown }]) => [subject, unknown.length])).toEqual([['answers.most', 8_000]]);
  }

  test('cluster.X14 a body is given only to the node that it was announced to', async () => {
    const seen = new Promise<Uint8Array>((resolve) => {
      raw.subscribe(`wc1.default.b.${b.cluster.self.id}.call.a.*`, {
        callback: (_, message) => void (message.data[0] === 1 && resolve(message.data)),
      });
    });
    await raw.flush();
    const call = a.bus.call('work::echo', { text: 'x'.repeat(400_000) }, { namespace: 'b' });
    const { key } = JSON.parse(Buffer.from((await seen).subarray(1)).toString()) as { key: string };
    const piece = await raw.request(
      `wc1.default.a.${a.cluster.self.id}.piece.evil.${ID}`,
      JSON.stringify({ key, at: 0 }),
    );
    expect(piece.data).toHaveLength(0);
    expect(await call).toMatchObject({ text: expect.stringMatching(/^x{400000}$/) });
  });

  test('cluster.X15 a call under the name of a known id from another name is dropped', async () => {
    const frame = { type: 'invokefunction', invocation_id: 'f', function_id: 'work::once', data: { key: 'forged' } };
    raw.publish(to('call', 'evil', a.cluster.self.id), JSON.stringify(frame));
    await raw.flush();
    await works('x15');
    expect(b.ran.has('forged')).toBe(false);
  });
});

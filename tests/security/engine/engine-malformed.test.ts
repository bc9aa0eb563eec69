/** Peers that send anything. The engine survives, and other peers notice nothing. */
import { randomUUID } from 'node:crypto';

import { afterAll, expect, test } from 'vitest';

import { hostilePeer, malformed } from './peer-crowds.ts';
import { EngineProcess } from './peer-engine-process.ts';
import { seeded } from './peer-malformed.ts';
import { Neighbours } from './peer-neighbours.ts';
import { Peer } from './peer-socket.ts';

/** For tests of one frame. */
const shared = await EngineProcess.start();
afterAll(async () => {
  await shared[Symbol.asyncDispose]();
});

test('bus.P12 thousands of malformed frames harm only their sender', { timeout: 120_000 }, async () => {
  await using engine = await EngineProcess.start();
  await malformed(engine);
});

/** Valid frames that carry something an engine must not hand on as it is, or cannot write again. */
const deep = '['.repeat(100_000) + ']'.repeat(100_000);
const call = (fields: string) => `{"type":"invokefunction","function_id":"healthy::echo",${fields}}`;

test('a call nested too deep to be written again is refused', async () => {
  using neighbours = await Neighbours.at(shared.url);
  using hostile = await hostilePeer(shared.url);

  hostile.socket.send(call(`"invocation_id":"no uuid","data":${deep}`));
  expect(await hostile.next((frame) => frame.type === 'invocationresult')).toEqual({
    type: 'invocationresult',
    invocation_id: 'no uuid',
    function_id: 'healthy::echo',
    error: {
      code: 'not_json',
      message:
        'the request cannot be written as JSON: it may be nested too deep or hold a BigInt; send that part as a string',
    },
  });
  hostile.socket.send(call(`"action":{"type":"void"},"data":${deep}`));
  await hostile.settled();
  await neighbours.expectUnharmed();
});

test('an error nested too deep to be written again still reaches the caller as one', async () => {
  using hostile = await hostilePeer(shared.url);
  using caller = await Peer.dial(shared.url);
  await hostile.register('hostile::fail');

  const reply = caller.call('hostile::fail');
  const { invocation_id } = await hostile.next((frame) => frame.type === 'invokefunction');
  hostile.socket.send(`{"type":"invocationresult","invocation_id":"${invocation_id}","error":${deep}}`);
  expect((await reply).error).toEqual({ code: 'UNKNOWN', message: 'an error that cannot be written as JSON' });
});

test.each([
  ['registerfunction', `"id":"x","metadata":${deep}`],
  ['registerfunction', `"id":"x","request_format":${deep}`],
  ['registertriggertype', `"id":"x","trigger_request_format":${deep}`],
  ['registertrigger', `"id":"x","trigger_type":"engine::workers-available","function_id":"f","config":${deep}`],
  ['registertrigger', `"id":"x","trigger_type":"engine::workers-available","function_id":"f","metadata":${deep}`],
])('a %s nested too deep is not taken, so the lists stay readable (%#)', async (type, fields) => {
  using neighbours = await Neighbours.at(shared.url);
  using hostile = await hostilePeer(shared.url);

  hostile.socket.send(`{"type":"${type}",${fields}}`);
  await hostile.settled();
  await neighbours.expectListsReadable();
});

test('a durable trigger nested too deep is refused by name', async () => {
  using neighbours = await Neighbours.at(shared.url);
  using hostile = await hostilePeer(shared.url);

  hostile.socket.send(
    `{"type":"invokefunction","invocation_id":"${randomUUID()}","function_id":"engine::register_trigger",` +
      `"data":{"trigger_type":"t","function_id":"f","config":${deep}}}`,
  );
  expect((await hostile.next((frame) => frame.type === 'invocationresult')).error).toEqual({
    code: 'deserialization_error',
    message: 'Failed to deserialize input for engine::register_trigger: `config`: nested deeper than 256',
  });
  await neighbours.expectListsReadable();
});

test('a binary call that is not UTF-8 is not passed on as text, which would make the worker hang up', async () => {
  using neighbours = await Neighbours.at(shared.url);
  using hostile = await hostilePeer(shared.url);

  const bytes = Buffer.from(call(`"invocation_id":"${randomUUID()}","data":"~"`));
  bytes[bytes.indexOf('~')] = 0xff;
  hostile.socket.send(bytes, { binary: true });
  await hostile.settled();
  await neighbours.expectUnharmed();
  expect(neighbours.areConnected).toBe(true);
});

/** The first bytes of frames that break the WebSocket protocol itself. */
const brokenFraming: Record<string, number[]> = {
  'a reserved opcode': [0x83, 0x80, 0, 0, 0, 0],
  'a reserved control opcode': [0x8b, 0x80, 0, 0, 0, 0],
  'reserved bits': [0xf1, 0x80, 0, 0, 0, 0],
  'no mask': [0x81, 0x02, 0x7b, 0x7d],
  'a continuation of nothing': [0x80, 0x80, 0, 0, 0, 0],
  'a fragmented ping': [0x09, 0x80, 0, 0, 0, 0],
  'a ping of 126 bytes': [0x89, 0xfe, 0, 126, 0, 0, 0, 0],
  'a close with half a code': [0x88, 0x81, 0, 0, 0, 0, 3],
  'a close with an invalid code': [0x88, 0x82, 0, 0, 0, 0, 0, 1],
  'a length beyond 2^53': [0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0],
  'a length of 4 GiB': [0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
};

test.each(Object.entries(brokenFraming))('%s ends that connection and no other', async (_, bytes) => {
  using neighbours = await Neighbours.at(shared.url);
  using hostile = await hostilePeer(shared.url);

  hostile.raw.write(Buffer.from(bytes));
  expect(await hostile.closed).toBeGreaterThan(1000);
  await neighbours.expectUnharmed();
  expect(shared.isAlive).toBe(true);
});

test('random bytes instead of frames end the connection or wait for more', async () => {
  using neighbours = await Neighbours.at(shared.url);
  const random = seeded(7);

  for (let n = 0; n < 100; n++) {
    using hostile = await hostilePeer(shared.url);
    hostile.raw.write(Buffer.from(Array.from({ length: 64 }, () => Math.floor(random() * 256))));
    if (n % 10 === 0) await neighbours.expectUnharmed();
  }
  await neighbours.expectUnharmed();
  expect(shared.isAlive).toBe(true);
});

/** QMP over a stream whose other end is the test. */
import { duplexPair, type Duplex } from 'node:stream';

import { beforeEach, expect, test } from 'vitest';

import { Qmp } from './qmp.ts';

let qemu: Duplex;
let qmp: Qmp;
let asked: string;

beforeEach(() => {
  const [ours, theirs] = duplexPair();
  qemu = theirs;
  asked = '';
  qemu.on('data', (piece: Buffer) => (asked += piece.toString()));
  qmp = new Qmp(ours);
});

const say = (...messages: unknown[]) =>
  qemu.write(messages.map((message) => `${JSON.stringify(message)}\r\n`).join(''));

test('commands are written at once, before QEMU says anything', async () => {
  const replies = [qmp.execute('one'), qmp.execute('two', { a: 1 })];
  await expect
    .poll(() => asked)
    .toBe('{"execute":"qmp_capabilities"}\n{"execute":"one"}\n{"execute":"two","arguments":{"a":1}}\n');
  say({ QMP: { version: {} } }, { return: {} }, { return: 1 }, { return: { b: 2 } });
  expect(await Promise.all(replies)).toEqual([1, { b: 2 }]);
});

test('a refusal is the failure of its own command only', async () => {
  const [refused, done] = [qmp.execute('bad'), qmp.execute('good')];
  say({ return: {} }, { error: { class: 'GenericError', desc: 'not so' } }, { return: 'yes' });
  await expect(refused).rejects.toThrow('not so');
  expect(await done).toBe('yes');
});

test('an event reaches every waiter for one like it, between replies and in pieces', async () => {
  const over = qmp.event(({ name, data }) => name === 'MIGRATION' && data.status === 'completed');
  const reply = qmp.execute('migrate');
  say({ return: {} }, { event: 'MIGRATION', data: { status: 'active' } });
  qemu.write('{"event": "MIGRA');
  qemu.write('TION", "data": {"status": "completed"}}\n{"return": {}}\n');
  expect(await over).toEqual({ name: 'MIGRATION', data: { status: 'completed' } });
  expect(await reply).toEqual({});
});

test.each([
  ['QEMU ends', () => qemu.end(), 'closed its control channel'],
  ['a line is not JSON', () => qemu.write('{"return"\n'), 'invalid QMP'],
  ['a line is of another kind', () => qemu.write('{"event": 5}\n'), 'invalid QMP'],
  ['a line has no end', () => qemu.write('x'.repeat(300_000)), 'longer than 262144 bytes'],
])('all that waits fails at once when %s', async (_, end, reason) => {
  const waiting = [qmp.execute('one'), qmp.event(() => true)].map((wait) => expect(wait).rejects.toThrow(reason));
  end();
  await Promise.all(waiting);
  await expect(qmp.execute('later')).rejects.toThrow(reason);
});

/** Content of a reply's channel, read in full for callers that cannot open channels. */
import { expect, test } from 'vitest';

import { EncodedObject, type ChannelItem } from '#protocol';
import type { Bus } from '../bus.ts';
import { withContent } from './take-content.ts';

const REF = { channel_id: 'c', access_key: 'k', direction: 'read' };
const options = { functionId: 'x::read', maxBytes: 10 };

function busWith(...items: ChannelItem[]) {
  let isCancelled = false;
  const reader = {
    cancel: () => (isCancelled = true),
    [Symbol.asyncIterator]: async function* () {
      yield* items;
    },
  };
  return { bus: { openReader: async () => reader } as unknown as Bus, isCancelled: () => isCancelled };
}

test.each([
  ['text', [Buffer.from('hé'), Buffer.from('y')], 4, { content: 'héy', encoding: 'utf-8', size: 4, mode: '0644' }],
  ['other bytes', [Buffer.from([0xff])], 1, { content: '/w==', encoding: 'base64', size: 1, mode: '0644' }],
  ['nothing', [], 0, { content: '', encoding: 'utf-8', size: 0, mode: '0644' }],
])('%s', async (_, items, size, expected) => {
  expect(await withContent(busWith(...items).bus, { content: REF, size, mode: '0644' }, options)).toEqual(expected);
});

test.each([
  ['broke off', [Buffer.from('ab')], 4, 'content_incomplete'],
  ['grew', [Buffer.alloc(8), Buffer.alloc(8)], 8, 'content_too_large'],
  ['could not be read on', [Buffer.from('a'), '{"error":"gone"}'], 4, 'content_incomplete'],
])('a file that %s is a failure', async (_, items, size, code) => {
  await expect(withContent(busWith(...items).bus, { content: REF, size }, options)).rejects.toMatchObject({ code });
});

test('a file that is too large is not read, and its sender is notified', async () => {
  const { bus, isCancelled } = busWith(Buffer.alloc(11));
  await expect(withContent(bus, { content: REF, size: 11 }, options)).rejects.toMatchObject({
    code: 'content_too_large',
  });
  expect(isCancelled()).toBe(true);
});

test.each([
  [null],
  ['text'],
  [{ content: 'text', size: 4 }],
  [{ content: REF }],
  [{ content: { ...REF, direction: 'write' }, size: 1 }],
])('any other reply is returned unchanged: %j', async (reply) => {
  expect(await withContent(busWith().bus, reply, options)).toBe(reply);
});

test('a result that is encoded already is passed on without decoding', async () => {
  const decode = () => expect.fail('decoded');
  const reply = new EncodedObject({ content: '', size: 4 }, 'content', { decode, json: [] });
  expect(await withContent(busWith().bus, reply, options)).toBe(reply);
});

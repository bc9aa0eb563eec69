import { expect, test } from 'vitest';

import { asUtf8 } from './as-utf8.ts';

const scope = { signal: new AbortController().signal };

test.each([
  ['text is what it was', Buffer.from('\ufeffé\n'), '\ufeffé\n'],
  ['a byte that begins nothing', Buffer.from('a\xff\nb', 'latin1'), 'a\ufffd\nb'],
  ['a character that is cut at the end', Buffer.from('a\xe2\x82', 'latin1'), 'a\ufffd'],
  [
    'a character that lies across two turns',
    Buffer.concat([Buffer.from('\xff'.padEnd(2 ** 20 - 1, 'a'), 'latin1'), Buffer.from('€')]),
    `${'\ufffd'.padEnd(2 ** 20 - 1, 'a')}€`,
  ],
])('%s', async (_, bytes, text) => {
  expect((await asUtf8(bytes, scope)).equals(Buffer.from(text))).toBe(true);
});

test('others are served meanwhile, and a caller that cancels ends it', async () => {
  const control = new AbortController();
  const decoding = asUtf8(Buffer.alloc(4 * 2 ** 20, 0xff), { signal: control.signal });
  setImmediate(() => control.abort());
  await expect(decoding).rejects.toMatchObject({ name: 'AbortError' });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { readFrameHead } from './frame-head.ts';

const head = (text: string) => readFrameHead(Buffer.from(text));
const filler = 'x'.repeat(10_000);

test.each<[string, string, object]>([
  [
    'a call',
    `{"type":"invokefunction","invocation_id":"i","function_id":"f","data":"${filler}"}`,
    { type: 'invokefunction', invocationId: 'i', functionId: 'f' },
  ],
  [
    'another order',
    `{"function_id":"f","invocation_id":"i","type":"invokefunction","data":{`,
    { type: 'invokefunction', invocationId: 'i', functionId: 'f' },
  ],
  [
    'spaces and lines',
    `\n { "type" : "invocationresult" ,\r\n\t"invocation_id" : "i" , "result":[`,
    { type: 'invocationresult', invocationId: 'i' },
  ],
  [
    'strings before the ids',
    `{"traceparent":"00-1","type":"invokefunction","baggage":"k=v","invocation_id":"i","data":1`,
    { type: 'invokefunction', invocationId: 'i' },
  ],
  [
    'an escaped quote',
    String.raw`{"type":"invokefunction","function_id":"a\"b\\","invocation_id":"i","data":0`,
    { type: 'invokefunction', functionId: 'a"b\\', invocationId: 'i' },
  ],
  [
    'an escaped key',
    String.raw`{"\u0074ype":"invokefunction","invocation_id":"\u0069"`,
    { type: 'invokefunction', invocationId: 'i' },
  ],
  ['ids inside a string', String.raw`{"type":"x","note":"\",\"invocation_id\":\"forged","data":0`, { type: 'x' }],
  [
    'ids inside the payload',
    `{"type":"invokefunction","data":{"invocation_id":"inner","function_id":"inner"},"invocation_id":"i"}`,
    { type: 'invokefunction' },
  ],
  ['a payload first', `{"data":"${filler}","type":"invokefunction","invocation_id":"i"}`, {}],
  [
    'an id that is not a string',
    `{"type":"invokefunction","invocation_id":7,"function_id":"f"}`,
    { type: 'invokefunction' },
  ],
  ['an id that is cut off', `{"type":"invokefunction","invocation_id":"${filler}"}`, { type: 'invokefunction' }],
  [
    'a bad escape',
    String.raw`{"type":"invokefunction","invocation_id":"\x","function_id":"f"`,
    { type: 'invokefunction', invocationId: '', functionId: 'f' },
  ],
  ['the same key twice', `{"type":"a","type":"b"`, { type: 'b' }],
  ['an array', `["type","x"]`, {}],
  ['nothing', '', {}],
])('%s', (_, text, expected) => {
  expect(head(text)).toEqual({
    type: undefined,
    invocationId: undefined,
    functionId: undefined,
    ...expected,
    bytes: Buffer.byteLength(text),
  });
});

test('reads the head of any frame as JSON.parse would', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 100, size: 'max' }),
      fc.string({ unit: 'binary', maxLength: 100, size: 'max' }),
      (invocationId, functionId) => {
        const frame = { type: 'invokefunction', invocation_id: invocationId, function_id: functionId, data: filler };
        const bytes = Buffer.from(JSON.stringify(frame));
        expect(readFrameHead(bytes)).toEqual({ type: 'invokefunction', invocationId, functionId, bytes: bytes.length });
      },
    ),
  );
});

test('arbitrary bytes never throw', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void readFrameHead(Buffer.from(bytes))));
});

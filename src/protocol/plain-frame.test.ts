import { expect, test } from 'vitest';

import { FrameSchema } from './frames.ts';
import { asPlainFrame } from './plain-frame.ts';

const call = { type: 'invokefunction', invocation_id: 'a', function_id: 'w::f' };
const result = { type: 'invocationresult', invocation_id: 'a', function_id: 'w::f' };

test.each([
  call,
  result,
  { ...call, data: null },
  { ...call, data: { type: 'ping', caller: 1 } },
  { ...result, result: [1] },
  { ...call, invocation_id: 'x'.repeat(512) },
])('a plain frame is what its schema returns: %j', (value) => {
  expect(asPlainFrame(value)).toEqual(FrameSchema.parse(value));
});

test.each([
  undefined,
  null,
  'ping',
  [call],
  { type: 'ping' },
  { ...call, invocation_id: null },
  { ...call, invocation_id: '' },
  { ...call, function_id: 'x'.repeat(513) },
  { ...call, function_id: 7 },
  { ...call, caller: { id: 'operator:cli', kind: 'operator', label: 'cli' } },
  { ...call, on_behalf_of: {} },
  { ...call, result: 1 },
  { ...call, wants_events: true },
  { ...result, data: 1 },
  { ...result, error: 'no' },
  { ...result, changes: [] },
  { ...result, traceparent: null },
  JSON.parse('{"type":"invokefunction","invocation_id":"a","function_id":"w::f","__proto__":{"caller":{}}}'),
])('the schemas decide about %j', (value) => {
  expect(asPlainFrame(value)).toBeUndefined();
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { decodeFrame, KeptJsonSchema } from './frames.ts';

const decode = (value: unknown) => decodeFrame(JSON.stringify(value));
const invoke = { type: 'invokefunction', function_id: 'a::b' };

test('a frame of every type is taken with what it needs and nothing more', () => {
  const least = [
    { type: 'invokefunction', function_id: 'f' },
    { type: 'invocationresult', invocation_id: 'i' },
    { type: 'registerfunction', id: 'f' },
    { type: 'unregisterfunction', id: 'f' },
    { type: 'registertriggertype', id: 't' },
    { type: 'unregistertriggertype', id: 't' },
    { type: 'registertrigger', id: 'b', trigger_type: 't', function_id: 'f' },
    { type: 'unregistertrigger', id: 'b' },
    { type: 'triggerregistrationresult', id: 'b', trigger_type: 't', function_id: '' },
    { type: 'workerregistered', worker_id: 'w' },
    { type: 'registrationrejected', code: 'c', namespace: 'n', owner_worker_id: 'w' },
    { type: 'cancelinvocation', invocation_id: 'i' },
    { type: 'registerservice', id: 's' },
    { type: 'reattach', previous_worker_id: 'w' },
    { type: 'ping' },
    { type: 'pong' },
  ];
  expect(least.map(decode)).toEqual(least.map((frame) => ({ frame })));
});

test('unknown features are accepted, however many', () => {
  const frame = { type: 'workerregistered', worker_id: 'w', features: Array.from({ length: 500_000 }, () => 0) };
  expect(decode(frame)).toEqual({ frame });
});

test('null is as good as absent wherever a field is optional', () => {
  const frame = { ...invoke, invocation_id: null, action: null, namespace: null, traceparent: null, baggage: null };
  expect(decode(frame)).toEqual({ frame });
  const optional = { description: null, request_format: null, response_format: null, metadata: null, invocation: null };
  expect(decode({ type: 'registerfunction', id: 'f', ...optional })).toHaveProperty('frame');
  expect(decode({ type: 'unregistertrigger', id: 'b', trigger_type: null })).toHaveProperty('frame');
  expect(decode({ type: 'reattach', previous_worker_id: 'w', reattach_token: null })).toHaveProperty('frame');
  expect(decode({ type: 'registerfunction', id: null })).toEqual({ problem: expect.stringContaining('id') });
});

test('unknown fields are dropped, such as the message_type that one client leaks', () => {
  const sent = { type: 'registertrigger', id: 'b', trigger_type: 't', function_id: 'f', config: {} };
  expect(decode({ ...sent, message_type: 'registertrigger', extra: 1 })).toEqual({ frame: sent });
  expect(decode({ ...invoke, action: { type: 'void', delay: 1 } })).toEqual({
    frame: { ...invoke, action: { type: 'void' } },
  });
});

test('payloads pass as they are, prototype keys and all, and pollute nothing', () => {
  const decoded = decodeFrame(
    '{"type":"invokefunction","function_id":"f","data":{"__proto__":{"polluted":1}},"__proto__":{"x":1}}',
  );
  expect(JSON.stringify(decoded)).toBe(
    '{"frame":{"type":"invokefunction","function_id":"f","data":{"__proto__":{"polluted":1}}}}',
  );
  expect('polluted' in {}).toBe(false);
});

test.each([
  ['', 'not JSON'],
  ['{"type":"ping"', 'not JSON'],
  ['[]', /^frame: /],
  ['null', /^frame: /],
  ['{}', /^type: /],
  ['{"type":"PING"}', /^type: /],
  ['{"type":"invokefunction"}', /^function_id: /],
  ['{"type":"invokefunction","function_id":""}', /^function_id: /],
  ['{"type":"invokefunction","function_id":7}', /^function_id: /],
  ['{"type":"invokefunction","function_id":"f","action":{"type":"later"}}', /^action\.type: /],
  ['{"type":"invokefunction","function_id":"f","action":{"type":"enqueue"}}', /^action\.queue: /],
  ['{"type":"invocationresult","result":1}', /^invocation_id: /],
  ['{"type":"triggerregistrationresult","id":"b","trigger_type":"t","function_id":"f","error":"no"}', /^error: /],
  [`{"type":"registerfunction","id":"${'x'.repeat(513)}"}`, /^id: /],
])('%s is not a frame', (json, problem) => {
  expect(decodeFrame(json)).toEqual({ problem: expect.stringMatching(problem) });
});

test('nothing that is read throws', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void decodeFrame(text)));
});

describe('what an engine keeps', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const broad = JSON.stringify(Array.from({ length: 10_000 }, (_, n) => ({ n })));

  test.each([
    ['a scalar', '1', true],
    ['something broad', broad, true],
    ['256 levels', nested(256), true],
    ['257 levels', nested(257), false],
    ['257 levels at the end of something broad', `[${broad},${nested(256)}]`, false],
    ['100,000 levels', nested(100_000), false],
  ])('%s', (_, json, isTaken) => {
    expect(KeptJsonSchema.safeParse(JSON.parse(json)).success).toBe(isTaken);
    expect('frame' in decodeFrame(`{"type":"registerfunction","id":"f","metadata":${json}}`)).toBe(isTaken);
  });

  test('is limited in depth, what passes through is not', () => {
    expect(decodeFrame(`{"type":"invokefunction","function_id":"f","data":${nested(100_000)}}`)).toHaveProperty(
      'frame',
    );
  });
});

/** Frames of a node match their schema, also those whose caller is cached. */
import { expect, test } from 'vitest';

import { decodeFrame, type InvokeFrame } from '#protocol';
import { FrameReader } from './frames.ts';

const call = { type: 'invokefunction', invocation_id: 'a', function_id: 'w::f', data: { x: 1 }, namespace: 'b' };
const caller = { id: 'operator:cli', kind: 'operator', label: 'cli', client: { name: 'c', version: '1' } };

const values: unknown[] = [
  call,
  { ...call, caller },
  { ...call, caller, on_behalf_of: {} },
  { ...call, caller, on_behalf_of: { read_only: true } },
  { ...call, caller, on_behalf_of: 7 },
  { ...call, caller: { ...caller, more: 1 } },
  { ...call, caller: { ...caller, approves: true } },
  { ...call, caller: { ...caller, kind: 'king' } },
  { ...call, caller: null },
  { ...call, caller, via: 'c' },
  { ...call, caller, wants_events: true },
  { ...call, caller, namespace: 7 },
  { ...call, caller, function_id: '' },
  { type: 'invocationresult', invocation_id: 'a', function_id: 'w::f', result: 1 },
  { type: 'invocationresult', invocation_id: 'a', function_id: 'w::f', result: 1, caller },
  { type: 'cancelinvocation', invocation_id: 'a' },
  'ping',
];

test('a frame is parsed by its schema, also when it is repeated', () => {
  const reader = new FrameReader();
  const texts = [...values, ...values].map((value) => JSON.stringify(value));
  const decoded = texts.map((text) => decodeFrame(text)).map((read) => ('frame' in read ? read.frame : undefined));
  expect(texts.map((text) => reader.read(Buffer.from(text)))).toEqual(decoded);
  expect(reader.read(Buffer.from('{'))).toBe(undefined);
});

test('calls with an equal caller share one caller object', () => {
  const reader = new FrameReader();
  const read = (value: object) => (reader.read(Buffer.from(JSON.stringify(value))) as InvokeFrame).caller;
  const first = read({ ...call, caller, on_behalf_of: {} });
  expect(read({ ...call, data: 2, caller, on_behalf_of: {} })).toBe(first);
  expect(read({ ...call, caller, on_behalf_of: { read_only: true } })).not.toBe(first);
});

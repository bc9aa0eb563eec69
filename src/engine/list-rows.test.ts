import { expect, test } from 'vitest';

import { makePrincipal } from '#contract';
import { memoryLinks } from '#protocol';
import { isInternal, triggerRow, workerNameOf, workerRow } from './list-rows.ts';
import { Session } from './session.ts';

test.each([
  ['engine::functions::list', undefined, true],
  ['engine::queue::enqueue', undefined, false],
  ['coder::read-file', undefined, false],
  ['coder::read-file', { internal: true }, true],
  ['coder::read-file', { internal: 'true' }, false],
  ['coder::read-file', null, false],
  ['coder::read-file', 'internal', false],
])('%s with metadata %j is internal: %s', (id, metadata, is) => {
  expect(isInternal(id, metadata)).toBe(is);
});

test('a worker without metadata is listed by its id, and its functions by theirs', () => {
  const session = new Session(memoryLinks()[0], { remoteAddress: '10.0.0.1' });
  expect(workerRow(session, ['b', 'c'])).toEqual({
    id: session.workerId,
    name: session.workerId,
    description: null,
    version: '',
    runtime: 'unknown',
    os: '',
    pid: null,
    isolation: null,
    ip_address: '10.0.0.1',
    namespace: 'default',
    status: 'connected',
    connected_at_ms: session.connectedAtMs,
    active_invocations: 0,
    function_count: 2,
    functions: ['b', 'c'],
  });
  expect(workerNameOf({ id: 'coder::read-file', namespace: 'default', owner: session })).toBe('coder');
});

test('the config of a trigger is summed up in eighty characters', () => {
  const principal = makePrincipal('operator', 'engine');
  const trigger = { id: 'b', type: 't', functionId: 'f', namespace: 'default', isParked: false, principal };
  expect(triggerRow({ ...trigger, config: undefined })).toMatchObject({
    config: null,
    config_summary: 'null',
    worker_name: 'engine',
  });
  const { config_summary } = triggerRow({ ...trigger, config: 'x'.repeat(100) });
  expect(config_summary).toBe(`"${'x'.repeat(78)}…`);
});

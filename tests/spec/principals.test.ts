/** Principals of connections: in calls for events of the engine, and in the list of callers when one of several leaves. */
import { afterEach, beforeEach, expect, test } from 'vitest';

import { connect, type Connection } from '#client';
import type { AccessControl, AuditedCall, Decision } from '#contract';
import { Engine } from '#engine';
import { memoryLinks, type Frame, type InvokeFrame, type Link } from '#protocol';

const SEEN = 'seen::workers';
let records: AuditedCall[];
let verdict: Decision['verdict'];
let engine: Engine;
let inside: Connection;
/** Calls of the function, as its worker gets them. */
let events: InvokeFrame[];

const delivered = () => new Promise<void>((resolve) => setImmediate(resolve));

beforeEach(async () => {
  [records, events, verdict] = [[], [], 'allow'];
  const access: AccessControl = { askTimeoutMs: 0, decide: () => ({ verdict, rule: 'p: 1' }) };
  const audit = { arguments: () => ({}), record: (call: AuditedCall) => void records.push(call), acted: () => {} };
  engine = new Engine({ access, audit });
  inside = await connect(engine.dialer(), { name: 'inside' });
  const worker = peer({}, (frame) => {
    if (frame.type !== 'invokefunction') return;
    events.push(frame);
    worker.send({ type: 'invocationresult', invocation_id: frame.invocation_id!, result: 'seen' });
  });
  introduce(worker, 'worker', ['caller']);
  worker.send({ type: 'registerfunction', id: SEEN });
  await expect.poll(() => inside.call('engine::functions::list').then(JSON.stringify)).toContain(SEEN);
});
afterEach(() => {
  inside.close();
  engine.close();
});

/** A remote peer by frames. */
function peer(origin: Parameters<Engine['connect']>[1], take: (frame: Frame) => void = () => {}): Link {
  const [near, far] = memoryLinks();
  near.attach({ frame: take, closed() {} });
  engine.connect(far, { remoteAddress: '10.0.0.1', ...origin });
  return near;
}

function introduce(link: Link, name: string, features: string[] = []): void {
  const data = { name, features };
  link.send({ type: 'invokefunction', function_id: 'engine::workers::register', action: { type: 'void' }, data });
}

function bind(link: Link, functionId = SEEN): void {
  const type = 'engine::workers-available';
  link.send({ type: 'registertrigger', id: 't', trigger_type: type, function_id: functionId, config: {} });
}

test('an event call has the name that the binder took after it had bound', async () => {
  const sdk = peer({});
  bind(sdk);
  introduce(sdk, 'sdk');
  await expect.poll(() => events.at(-1)?.caller).toMatchObject({ label: 'sdk', client: { name: 'sdk' } });
});

test('an event call has no right to approve, also for a trigger that the operator bound', async () => {
  const operator = peer({ isOperator: true });
  bind(operator);
  introduce(operator, 'operator');
  await expect.poll(() => events.at(-1)?.caller).toMatchObject({ kind: 'operator' });
  expect(events.at(-1)!.caller).not.toHaveProperty('approves');
  events.length = 0;

  const caller = { id: 'operator:x', kind: 'operator', label: 'x', approves: true, grants: {} } as const;
  const data = { trigger_type: 'engine::workers-available', function_id: SEEN };
  await inside.call('engine::register_trigger', data, { caller });
  introduce(peer({}), 'other');
  await expect.poll(() => events.map((event) => event.caller?.id)).toContain('operator:x');
  expect(events.filter(({ caller }) => caller?.approves)).toEqual([]);
});

test.each(['deny', 'ask'] as const)('an event call that a policy would %s is refused and recorded', async (refusal) => {
  const binder = peer({ policy: 'p' });
  introduce(binder, 'binder');
  bind(binder);
  introduce(peer({}), 'other');
  const about = { functionId: SEEN, principal: { label: 'binder' }, rule: 'p: 1' };
  await expect.poll(() => records.at(-1)).toMatchObject({ ...about, outcome: 'ok' });

  const { length } = events;
  verdict = refusal;
  introduce(peer({}), 'another');
  await expect.poll(() => records.at(-1)).toMatchObject({ ...about, outcome: 'forbidden' });
  expect(events).toHaveLength(length);
  const { ended } = (await inside.call('engine::calls::list')) as { ended: object[] };
  expect(ended.at(-1)).toMatchObject({ function_id: SEEN, caller: 'binder', code: 'forbidden' });
});

test('callers with one token are gone when its last connection closes, until one of them calls again', async () => {
  const connected = (name: string) => {
    const link = peer({ token: 'ci' });
    introduce(link, name);
    link.send({ type: 'invokefunction', function_id: SEEN, action: { type: 'void' }, data: {} });
    return link;
  };
  const links = ['a', 'b'].map(connected);
  const here = async () => {
    await delivered();
    const { callers } = (await inside.call('engine::callers::list')) as { callers: { id: string; here: unknown }[] };
    return callers.filter(({ id }) => id.startsWith('token:ci')).map((row) => row.here);
  };
  const seen: unknown[] = [];
  for (const link of links) {
    seen.push(await here());
    link.close();
  }
  seen.push(await here());
  connected('a');
  expect([...seen, await here()]).toEqual([
    [null, null],
    [null, null],
    [false, false],
    [null, false],
  ]);
});

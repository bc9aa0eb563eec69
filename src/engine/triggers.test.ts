import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { makePrincipal, silentLog } from '#contract';
import { memoryLinks, type Frame } from '#protocol';
import { defaultLimits } from './limits.ts';
import { Session, type SessionOrigin } from './session.ts';
import { Triggers } from './triggers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A session and the frames that its peer received. */
function peer(origin: SessionOrigin = {}): { session: Session; got: Frame[] } {
  const [near, far] = memoryLinks();
  const got: Frame[] = [];
  near.attach({ frame: (frame) => got.push(frame), closed() {} });
  return { session: new Session(far, origin), got };
}

const engineTypes = [{ id: 'engine::tick', description: '' }];
const make = () => new Triggers({ limits: defaultLimits, log: silentLog, engineTypes });
const clock = { type: 'registertriggertype', id: 'clock', description: 'Ticks.' } as const;
const binding = {
  type: 'registertrigger',
  id: 'b',
  trigger_type: 'clock',
  function_id: 'f',
  config: { every: 1 },
} as const;
const principal = makePrincipal('token', 'ci');
const durable = { id: 'd', type: 'clock', functionId: 'f', namespace: 'default', config: null, principal };
const handedOver = { type: 'registertrigger', id: 'b', trigger_type: 'clock', function_id: 'f', config: { every: 1 } };
const verdict = { type: 'triggerregistrationresult', id: 'b', trigger_type: 'clock', function_id: 'f' } as const;
const delivered = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a binding waits, parked, until its type appears, and again after its provider left', async () => {
  const triggers = make();
  const [provider, binder, successor] = [peer(), peer(), peer()];
  triggers.bind(binder.session, binding);
  expect(triggers.bindings.get('b')?.isParked).toBe(true);

  triggers.addType(provider.session, clock);
  expect(triggers.bindings.get('b')?.isParked).toBe(false);
  triggers.dropSession(provider.session);
  expect([triggers.bindings.get('b')?.isParked, triggers.types.has('clock')]).toEqual([true, false]);
  triggers.addType(successor.session, clock);

  await delivered();
  expect([provider.got, successor.got, binder.got]).toEqual([[handedOver], [handedOver], []]);
});

test('the provider gets the metadata of a binding, and null for an absent config', async () => {
  const triggers = make();
  const [provider, binder] = [peer(), peer()];
  triggers.addType(provider.session, clock);
  triggers.bind(binder.session, { ...binding, config: undefined, metadata: { of: 'mine' } });
  await delivered();
  expect(provider.got).toEqual([{ ...handedOver, config: null, metadata: { of: 'mine' } }]);
});

test('the provider gets the namespace of the function, unless it is the default one', async () => {
  const triggers = make();
  const [provider, binder] = [peer(), peer()];
  triggers.addType(provider.session, clock);
  triggers.bind(binder.session, { ...binding, namespace: 'lab' });
  triggers.bind(binder.session, { ...binding, id: 'c', namespace: 'default' });
  await delivered();
  expect(provider.got).toEqual([
    { ...handedOver, namespace: 'lab' },
    { ...handedOver, id: 'c' },
  ]);
});

test('bindings end with the token of their binder and of its clients, and no others', async () => {
  const triggers = make();
  triggers.bind(peer({ token: 'ci' }).session, binding);
  triggers.bind(peer().session, { ...binding, id: 'another' });
  await triggers.bindDurably(durable);
  await triggers.bindDurably({ ...durable, id: 'client', principal: { ...principal, id: 'token:ci#mcp' } });
  await triggers.bindDurably({ ...durable, id: 'other', principal: makePrincipal('token', 'ci2') });
  triggers.dropPrincipal('token:ci');
  expect([...triggers.bindings.keys()]).toEqual(['another', 'other']);
});

test('a refused binding is parked and its binder notified; a success is not reported', async () => {
  const triggers = make();
  const [provider, binder] = [peer(), peer()];
  triggers.addType(provider.session, clock);
  triggers.bind(binder.session, binding);
  triggers.acknowledge(provider.session, verdict);
  triggers.acknowledge(provider.session, {
    ...verdict,
    error: { code: 'no', message: 'too often', stacktrace: 'secret' },
  });
  await delivered();
  expect(binder.got).toEqual([{ ...verdict, error: { code: 'no', message: 'too often' } }]);
  expect(triggers.bindings.get('b')?.isParked).toBe(true);

  triggers.unbind('b', binder.session);
  await delivered();
  expect(provider.got).toEqual([handedOver]);
});

test('a disconnect removes the bindings of the peer, and providers are notified', async () => {
  const triggers = make();
  const [provider, binder] = [peer(), peer()];
  triggers.addType(provider.session, clock);
  triggers.bind(binder.session, binding);
  triggers.dropSession(binder.session);
  await delivered();
  expect(provider.got).toEqual([handedOver, { type: 'unregistertrigger', id: 'b', trigger_type: 'clock' }]);
  expect(triggers.bindings.size).toBe(0);
});

test('only its binder may unbind a binding, any peer a durable one', async () => {
  const triggers = make();
  const [binder, other] = [peer(), peer()];
  triggers.bind(binder.session, binding);
  await triggers.bindDurably(durable);
  expect([triggers.unbind('b', other.session), triggers.unbind('b'), triggers.unbind('none')]).toEqual([
    false,
    false,
    false,
  ]);
  expect([triggers.unbind('b', binder.session), triggers.unbind('d', other.session)]).toEqual([true, true]);
});

test('a type of the engine is bound at once and cannot be taken over', async () => {
  const triggers = make();
  const [thief, binder] = [peer(), peer()];
  triggers.bind(binder.session, { ...binding, trigger_type: 'engine::tick' });
  triggers.addType(thief.session, { ...clock, id: 'engine::tick' });
  triggers.removeType(thief.session, 'engine::tick');
  await delivered();
  expect([thief.got, triggers.bindingsOf('engine::tick').map(({ id, isParked }) => [id, isParked])]).toEqual([
    [],
    [['b', false]],
  ]);
});

test('a trigger type registered again by another worker moves to it with all bindings', async () => {
  const triggers = make();
  const [first, second, binder] = [peer(), peer(), peer()];
  triggers.addType(first.session, clock);
  triggers.bind(binder.session, binding);
  triggers.addType(second.session, clock);
  triggers.removeType(first.session, 'clock');
  triggers.acknowledge(first.session, { ...verdict, error: { code: 'no', message: 'stale' } });
  await delivered();
  expect([second.got, binder.got, triggers.types.get('clock')?.provider]).toEqual([[handedOver], [], second.session]);
});

test('a durable binding waits for the answer of its provider', async () => {
  const triggers = make();
  const provider = peer();
  triggers.addType(provider.session, clock);
  const accepted = triggers.bindDurably(durable);
  triggers.acknowledge(provider.session, { ...verdict, id: 'd' });
  await accepted;

  const refused = triggers.bindDurably({ ...durable, id: 'e' });
  triggers.acknowledge(provider.session, { ...verdict, id: 'e', error: { code: 'no', message: 'too often' } });
  await expect(refused).rejects.toMatchObject({ code: 'trigger_registration_failed', message: 'too often' });
  expect([...triggers.bindings.keys()]).toEqual(['d']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a provider that does not answer within ten seconds has accepted', async () => {
  const triggers = make();
  triggers.addType(peer().session, clock);
  const bound = triggers.bindDurably(durable);
  await vi.advanceTimersByTimeAsync(10_000);
  await bound;
  expect(triggers.bindings.has('d')).toBe(true);
});

test('a durable binding outlives all peers, parked while no worker provides its type', async () => {
  const triggers = make();
  await triggers.bindDurably(durable);
  const provider = peer();
  triggers.addType(provider.session, clock);
  triggers.dropSession(provider.session);
  expect([...triggers.bindings.values()]).toEqual([{ ...durable, isParked: true }]);
});

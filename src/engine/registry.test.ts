import { expect, test, vi } from 'vitest';

import { memoryLinks } from '#protocol';
import { Registry, type RegisteredFunction } from './registry.ts';
import { Session } from './session.ts';

function setup(count = 3) {
  const changed = vi.fn();
  const registry = new Registry(changed);
  const sessions = Array.from({ length: count }, () => new Session(memoryLinks()[0], { remoteAddress: '10.0.0.1' }));
  return { registry, changed, sessions: sessions as [Session, Session, Session] };
}

const fn = (id: string, owner: Session, more: Partial<RegisteredFunction> = {}): RegisteredFunction => ({
  id,
  namespace: 'default',
  owner,
  ...more,
});

test('the first owner keeps an id; a later one gets the owner', () => {
  const { registry, sessions } = setup();
  const [a, b] = sessions;
  expect(registry.add(fn('f', a))).toBeUndefined();
  expect(registry.add(fn('f', b))?.owner).toBe(a);
  expect(registry.find('f')?.owner).toBe(a);
});

test('queued owners take over in the order of their registration', () => {
  const { registry, sessions } = setup();
  const [a, b, c] = sessions;
  for (const session of sessions) registry.add(fn('f', session));

  registry.removeAll(a);
  expect(registry.find('f')?.owner).toBe(b);
  registry.remove('f', 'default', b);
  expect(registry.find('f')?.owner).toBe(c);
  registry.removeAll(c);
  expect(registry.find('f')).toBeUndefined();
  expect(registry.list()).toEqual([]);
});

test('removing a queued owner, or one without a claim, leaves the current owner', () => {
  const { registry, sessions } = setup();
  const [a, b, c] = sessions;
  registry.add(fn('f', a));
  registry.add(fn('f', b));
  registry.remove('f', 'default', b);
  registry.remove('f', 'default', c);
  registry.remove('f', 'elsewhere', a);
  registry.remove('g', 'default', a);
  expect(registry.find('f')?.owner).toBe(a);
});

test('an id of this process is reserved: a peer that has it loses it, a claim is not queued', () => {
  const { registry, sessions } = setup();
  const [early, late] = sessions;
  const [old, fresh] = [new Session(memoryLinks()[0], {}), new Session(memoryLinks()[0], {})];
  registry.add(fn('f', early));
  expect(registry.add(fn('f', old))).toBeUndefined();
  expect(registry.add(fn('f', late))?.owner).toBe(old);
  expect([registry.countOwnedBy(early), registry.countOwnedBy(late)]).toEqual([0, 0]);

  registry.add(fn('f', fresh));
  expect(registry.find('f')?.owner).toBe(fresh);
  registry.removeAll(fresh);
  expect(registry.find('f')?.owner).toBe(old);
  registry.removeAll(old);
  expect(registry.find('f')).toBeUndefined();
});

test('registering again replaces, at the same position in the queue', () => {
  const { registry, sessions } = setup();
  const [a, b] = sessions;
  registry.add(fn('f', a));
  registry.add(fn('f', b, { description: 'old' }));
  expect(registry.add(fn('f', a, { description: 'new' }))).toBeUndefined();
  expect(registry.find('f')?.description).toBe('new');
  registry.add(fn('f', b, { description: 'newer' }));
  registry.removeAll(a);
  expect(registry.find('f')?.description).toBe('newer');
  expect(registry.countOwnedBy(b)).toBe(1);
});

test('a session that moves takes its claims along and leaves its ids to the next', () => {
  const { registry, sessions } = setup();
  const [a, b, c] = sessions;
  for (const id of ['f', 'g']) registry.add(fn(id, a));
  registry.add(fn('f', b));
  registry.add(fn('g', c, { namespace: 'other' }));

  expect(registry.move(a, 'other').map((claim) => claim.id)).toEqual(['g']);
  expect([registry.find('f')?.owner, registry.find('g')]).toEqual([b, undefined]);
  expect([registry.find('f', 'other')?.owner, registry.find('g', 'other')?.owner]).toEqual([a, c]);
  expect(registry.ownedBy(a).map((claim) => [claim.id, claim.namespace])).toEqual([
    ['f', 'other'],
    ['g', 'other'],
  ]);
});

test('lists each served function once, in byte order', () => {
  const { registry, sessions } = setup();
  const [a, b] = sessions;
  for (const id of ['b', 'a', 'B', 'é']) registry.add(fn(id, a));
  registry.add(fn('a', b));
  registry.add(fn('a', b, { namespace: 'alpha' }));
  expect(registry.list().map(({ id, namespace, owner }) => [id, namespace, owner === a])).toEqual([
    ['B', 'default', true],
    ['a', 'alpha', false],
    ['a', 'default', true],
    ['b', 'default', true],
    ['é', 'default', true],
  ]);
  expect([registry.namespacesOf('a', 'default'), registry.namespacesOf('b', 'default')]).toEqual([['alpha'], []]);
});

test('listeners get every change', () => {
  const { registry, changed, sessions } = setup();
  const [a] = sessions;
  registry.add(fn('f', a));
  registry.add(fn('f', a));
  registry.remove('f', 'default', a);
  registry.removeAll(a);
  expect(changed).toHaveBeenCalledTimes(4);
});

test('accepts names such as __proto__ and constructor', () => {
  const { registry, sessions } = setup();
  const [a] = sessions;
  expect([registry.find('constructor'), registry.find('f', '__proto__')]).toEqual([undefined, undefined]);
  registry.add(fn('__proto__', a, { namespace: 'constructor' }));
  expect(registry.find('__proto__', 'constructor')?.owner).toBe(a);
});

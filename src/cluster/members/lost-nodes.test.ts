/** The reason that callers get for a node that is gone. */
import { expect, test } from 'vitest';

import { MOST_LOST, REMEMBER_LOST_MS } from '../limits.ts';
import { LostNodes } from './lost-nodes.ts';

const address = { name: 'build-7', id: '0000000a' };

test.each([
  ['silent', false, 'was lost'],
  ['deaf', false, 'was lost'],
  ['cut off', false, 'was lost'],
  ['left', true, 'left'],
  ['restarted', true, 'restarted'],
] as const)('a node that is %s: over %s', (ending, isOver, how) => {
  const lost = new LostNodes();
  lost.add(address, ending, 0);
  expect(lost.byId(address.id, 1)).toEqual({ name: 'build-7', gone: { isOver, how } });
  expect(lost.byId(address.id, REMEMBER_LOST_MS + 1)).toEqual({ name: 'build-7', gone: { isOver: true, how } });
  expect(lost.whyNot('build-7', 1)).toEqual(expect.any(String));
  expect(lost.whyNot('build-7', REMEMBER_LOST_MS + 1)).toBe(undefined);
});

test('a node that returns with the same id is no longer lost; with another id it counts as restarted', () => {
  const lost = new LostNodes();
  lost.add(address, 'silent', 0);
  lost.found({ ...address, id: '0000000b' });
  expect(lost.byId(address.id, 1)).toMatchObject({ gone: { isOver: true, how: 'restarted' } });
  expect(lost.whyNot('build-7', 1)).toBe(undefined);
  lost.found(address);
  expect(lost.byId(address.id, 1)).toBe(undefined);
});

test('a node that was lost and then leaves has left, and an unknown one is not remembered', () => {
  const lost = new LostNodes();
  lost.add(address, 'silent', 0);
  expect(lost.hasLeft(address.id)).toBe(false);
  lost.left(address);
  lost.left({ ...address, id: '0000000b' });
  expect([lost.hasLeft(address.id), lost.hasLeft('0000000b')]).toEqual([true, false]);
  expect(lost.byId(address.id, 1)).toEqual({ name: 'build-7', gone: { isOver: true, how: 'left' } });
  expect(lost.whyNot('build-7', 1)).toBe('it left');
});

test('keeps only the most recent lost nodes', () => {
  const lost = new LostNodes();
  const nodeAt = (at: number) => ({ name: `n${at}`, id: at.toString(16).padStart(8, '0') });
  for (let at = 0; at <= MOST_LOST; at++) lost.add(nodeAt(at), 'silent', at);
  expect(lost.byId(nodeAt(0).id, MOST_LOST)).toBe(undefined);
  expect(lost.whyNot('n0', 1)).toBe(undefined);
  expect(lost.byId(nodeAt(1).id, MOST_LOST)).toBeDefined();
});

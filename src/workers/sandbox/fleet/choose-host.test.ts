/** The better of two machines, by their reports. */
import { expect, test } from 'vitest';

import type { FleetHost } from '#contract';
import { chooseHost, imageMark, type Wish } from './choose-host.ts';
import { FreeSlots } from './free-slots.ts';
import { tagOf, taggedId } from './sandbox-tag.ts';

const report = { places: 4, starting: 0, living: 1, max: 5, memory_free_mb: 1_000, images: [] };

function host(name: string, more: Partial<FleetHost['sandboxes']> = {}, isDraining = false): FleetHost {
  return { name, id: name, isDraining, sandboxes: { ...report, ...more }, reportedAtMs: 0 };
}

/** Every host that some draw chooses. */
function chosen(hosts: FleetHost[], wish: Partial<Wish> = {}): string[] {
  const draws = [0, 0.2, 0.4, 0.6, 0.8, 0.99];
  const names = draws.flatMap((first) =>
    draws.flatMap((second) => {
      const left = [first, second];
      return (
        chooseHost(hosts, {
          wish: { image: 'python', sizeMb: 0, ...wish },
          slots: new FreeSlots(),
          random: () => left.shift()!,
        })?.name ?? []
      );
    }),
  );
  return [...new Set(names)].toSorted();
}

test('only machines that take it are chosen: not full, not draining, large enough, the named one', () => {
  const hosts = [
    host('a'),
    host('full', { places: 0 }),
    host('leaving', {}, true),
    host('small', { memory_free_mb: 10 }),
  ];
  expect(chosen(hosts, { sizeMb: 100 })).toEqual(['a']);
  expect(chosen([...hosts, host('empty', { memory_free_mb: 10, living: 0 })], { sizeMb: 100 })).toEqual(['a', 'empty']);
  expect(chosen([host('a'), host('b')], { node: 'b' })).toEqual(['b']);
  expect(chosen([host('a')], { node: 'c' })).toEqual([]);
});

test('of two the one with the image comes first, then the one with more free slots', () => {
  const images = [imageMark('python')];
  expect(chosen([host('a', { places: 50 }), host('b', { places: 1, images })])).toEqual(['b']);
  expect(chosen([host('a', { places: 3 }), host('b', { places: 2 })])).toEqual(['a']);
  expect(chosen([host('a', { places: 3 }), host('b', { places: 2 }), host('c', { places: 1 })])).toEqual(['a', 'b']);
});

test('of many machines a few draws find two that take it, and a scan of all finds the only one', () => {
  const full = Array.from({ length: 400 }, (_, at) => host(`full-${at}`, { places: 0 }));
  const free = Array.from({ length: 400 }, (_, at) => host(`free-${at}`, { places: 1 + (at % 2) }));
  const wish = { image: 'python', sizeMb: 0 };
  const tried = new Set(free.slice(0, 399).map(({ id }) => id));
  const names = Array.from({ length: 500 }, () => chooseHost([...full, ...free], { wish, slots: new FreeSlots() })!);
  expect(names.every(({ sandboxes }) => sandboxes.places > 0)).toBe(true);
  expect(new Set(names).size).toBeGreaterThan(100);
  expect(names.filter(({ sandboxes }) => sandboxes.places === 2).length).toBeGreaterThan(300);
  expect(chooseHost([...full, ...free], { wish, slots: new FreeSlots(), tried })?.name).toBe('free-399');
});

test('an id names its node and is a UUID; other ids name none', () => {
  const id = taggedId('0a1b2c3d');
  expect(id).toMatch(/^0a1b2c3d-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect([tagOf(id), tagOf(`job-${id}`)]).toEqual(['0a1b2c3d', '0a1b2c3d']);
  expect(tagOf('0a1b2c3d-0000-4000-8000-000000000000')).toBe(undefined);
  expect(taggedId('0a1b2c3d')).not.toBe(id);
});

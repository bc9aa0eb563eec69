/** Requests to the bus before a tool is called. */
import { expect, test } from 'vitest';

import type { Bus } from '#contract';
import { Offer } from './offered-tools.ts';

/** A bus with these functions, and the requests for its list. */
function busWith(functions: { function_id: string; metadata: object }[]) {
  const asked: unknown[] = [];
  const call = async (functionId: string, payload: unknown) => {
    asked.push([functionId, payload]);
    const { prefix = '' } = payload as { prefix?: string };
    return { functions: functions.filter(({ function_id }) => function_id.startsWith(prefix)) };
  };
  return { asked, functions, bus: { call } as unknown as Bus };
}

const list = (prefix?: string) => ['engine::functions::list', { include_internal: false, prefix }];

test('a call reads nothing of the catalogue', async () => {
  const { bus, asked } = busWith([{ function_id: 'a::run', metadata: { effect: 'execute' } }]);
  const offer = new Offer(bus);
  expect(await offer.find('a_run')).toEqual({ id: 'a::run' });
  expect(await offer.find('a_run')).toEqual({ id: 'a::run' });
  expect(asked).toEqual([list()]);
});

test('on a read-only surface it reads one row, and goes by what that says now', async () => {
  const row = { function_id: 'a::look', metadata: { effect: 'read' } };
  const { bus, asked } = busWith([row, { function_id: 'b::other', metadata: {} }]);
  const offer = new Offer(bus, { isReadOnly: true });
  expect(await offer.find('a_look')).toEqual({ id: 'a::look' });
  expect(asked).toEqual([list(), list('a::look')]);

  row.metadata.effect = 'write';
  expect(await offer.find('a_look')).toEqual({ problem: 'no tool a_look' });
});

test('an unknown name is looked up again, and the nearest one suggested', async () => {
  const { bus, functions } = busWith([{ function_id: 'a::look', metadata: {} }]);
  const offer = new Offer(bus);
  expect(await offer.find('a_lok')).toEqual({ problem: 'no tool a_lok (did you mean "a_look"?)' });
  functions.push({ function_id: 'a::lok', metadata: {} });
  expect(await offer.find('a_lok')).toEqual({ id: 'a::lok' });
});

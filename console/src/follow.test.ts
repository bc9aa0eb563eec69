import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { CallOptions } from './bus.ts';
import { follow } from './follow.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class Page extends EventTarget {
  hidden = false;

  show(isShown: boolean): void {
    this.hidden = !isShown;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

/** A page whose loads end, and whose watches report and end, when the test decides. */
function setup() {
  const page = new Page();
  const loads: (() => void)[] = [];
  const watches: { options: CallOptions; end(): void; fail(): void }[] = [];
  const leave = follow({
    page,
    load: () => new Promise<void>((resolve) => loads.push(resolve)),
    watch: (options) =>
      new Promise<void>((end, reject) => watches.push({ options, end, fail: () => reject(new Error('lost')) })),
  });
  const report = (type: string) => watches.at(-1)!.options.onEvent!({ type });
  const settled = () => vi.advanceTimersByTimeAsync(0);
  return { page, loads, watches, leave, report, settled };
}

test('loads at once and after a change, and not because the watch still runs', async () => {
  const { loads, report, settled } = setup();
  loads[0]!();
  await settled();
  for (const type of ['running', 'running']) report(type);
  expect(loads).toHaveLength(1);
  report('changed');
  expect(loads).toHaveLength(2);
});

test('loads once at a time, also when the page is hidden and shown meanwhile, and again for what changed then', async () => {
  const { page, loads, report, settled } = setup();
  report('changed');
  page.show(false);
  page.show(true);
  report('changed');
  expect(loads).toHaveLength(1);
  loads[0]!();
  await settled();
  expect(loads).toHaveLength(2);
  loads[1]!();
  page.show(false);
  await settled();
  report('changed');
  expect(loads).toHaveLength(2);
  page.show(true);
  expect(loads).toHaveLength(3);
});

test.each(['end', 'fail'] as const)(
  'a watch that comes to its %s is made again, until the page leaves',
  async (how) => {
    const { loads, watches, leave } = setup();
    loads[0]!();
    watches[0]![how]();
    await vi.advanceTimersByTimeAsync(2_000);
    expect([watches.length, loads.length]).toEqual([2, 2]);
    leave();
    watches[1]![how]();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(watches).toHaveLength(2);
  },
);

import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { silentLog, type Log } from '#contract';
import { fakeRung, no, tempDir, yes, type FakeRung, type TempDir } from '#testing';
import { Ladder } from './ladder.ts';
import { Verdicts } from './verdicts.ts';

const DAY_MS = 86_400_000;
const { signal } = new AbortController();

/** A ladder of one rung, as in a process of its own: only the folder is shared. */
function ladderOf(dir: TempDir, rung: FakeRung, log: Log = silentLog): Ladder {
  return new Ladder([rung], { verdicts: new Verdicts(dir.root), log });
}

/** Makes a probe count as slow without waiting for it. */
function slowly(rung: FakeRung): FakeRung {
  const start = performance.now();
  rung.beforeAnswer = async () => {
    vi.spyOn(performance, 'now').mockReturnValue(start + 5000);
  };
  return rung;
}

test('a yes is remembered by the next process', async () => {
  await using dir = await tempDir();
  const rung = fakeRung('gvisor', yes);
  expect(await ladderOf(dir, rung).ask(rung, { signal })).toMatchObject({ isRemembered: false, probe: rung.answer });

  const again = fakeRung('gvisor', no('must not be asked'));
  expect(await ladderOf(dir, again).ask(again, { signal })).toMatchObject({ isRemembered: true, probe: rung.answer });
  expect([rung.probes, again.probes]).toEqual([1, 0]);
});

test('a slow no is remembered, a fast one is asked for again', async () => {
  await using dir = await tempDir();
  const fast = fakeRung('gvisor', no('runsc is not installed'));
  const slow = slowly(fakeRung('qemu+kvm', no('no answer within 5 s')));
  for (const rung of [fast, slow]) {
    for (let times = 0; times < 2; times++) await ladderOf(dir, rung).ask(rung, { signal });
    vi.restoreAllMocks();
  }
  expect([fast.probes, slow.probes]).toEqual([2, 1]);
});

test.each([
  ['the programs changed', (rung: FakeRung) => void (rung.programs = 'two'), {}],
  ['somebody wants to know', () => {}, { isFresh: true }],
  ['a day has passed', () => void vi.spyOn(Date, 'now').mockReturnValue(Date.now() + DAY_MS), {}],
  ['the clock was set back', () => void vi.spyOn(Date, 'now').mockReturnValue(Date.now() - DAY_MS), {}],
])('a remembered no is asked for again when %s', async (_, change, asking) => {
  await using dir = await tempDir();
  const rung = slowly(fakeRung('qemu+kvm', no('no answer within 5 s')));
  await ladderOf(dir, rung).ask(rung, { signal });
  vi.restoreAllMocks();

  change(rung);
  rung.answer = yes;
  rung.beforeAnswer = async () => {};
  const answer = await ladderOf(dir, rung).ask(rung, { signal, ...asking });
  vi.restoreAllMocks();
  expect(answer).toMatchObject({ isRemembered: false, probe: rung.answer });
});

test('a verdict of another kernel is not believed', async () => {
  await using dir = await tempDir();
  const rung = fakeRung('gvisor', yes);
  const verdicts = new Verdicts(dir.root);
  const before = { fingerprint: 'one', askedAtMs: Date.now(), tookMs: 5000, isDoubted: false, probe: rung.answer };
  verdicts.keep('gvisor', { ...before, kernel: '2.6.0' });
  expect(await ladderOf(dir, rung).ask(rung, { signal })).toMatchObject({ isRemembered: false });
});

test('sandbox.P15 a yes that did not hold is asked for again, and its end is a warning', async () => {
  await using dir = await tempDir();
  const warn = vi.fn();
  const rung = fakeRung('qemu+kvm', yes);
  const ladder = ladderOf(dir, rung, { ...silentLog, warn });
  await ladder.ask(rung, { signal });

  ladder.doubt(rung);
  rung.answer = no('the device is gone');
  for (let times = 0; times < 2; times++) {
    expect(await ladder.ask(rung, { signal })).toMatchObject({ isRemembered: false, probe: rung.answer });
  }
  expect(warn.mock.calls).toEqual([
    ['an isolation rung that worked no longer works', { rung: 'qemu+kvm', reason: 'the device is gone' }],
  ]);
});

test('those who ask at the same time share one probe, and one who leaves does not end it for the others', async () => {
  await using dir = await tempDir();
  const rung = fakeRung('qemu+tcg', yes);
  rung.beforeAnswer = () => sleep(50);
  const ladder = ladderOf(dir, rung);
  const leaver = new AbortController();
  const answers = Promise.allSettled([
    ladder.ask(rung, { signal: leaver.signal }),
    ladder.ask(rung, { signal }),
    ladder.ask(rung, { signal }),
  ]);
  leaver.abort(new Error('left'));
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(rung.probes).toBe(1);
});

test('a probe that everybody left is no verdict', async () => {
  await using dir = await tempDir();
  const rung = fakeRung('qemu+tcg', no('aborted'));
  const leaver = new AbortController();
  rung.beforeAnswer = async () => leaver.abort(new Error('left'));
  await expect(ladderOf(dir, rung).ask(rung, { signal: leaver.signal })).rejects.toThrow('left');
  expect(new Verdicts(dir.root).recall('qemu+tcg')).toBeUndefined();
});

test('a reason is told on one line', async () => {
  await using dir = await tempDir();
  const rung = fakeRung('gvisor', no('runsc failed:\n  no such flag\n'));
  const { probe } = await ladderOf(dir, rung).ask(rung, { signal });
  expect(probe).toEqual(no('runsc failed: no such flag'));
});

test('a rung that cannot be swept is a warning, and the others are swept', async () => {
  await using dir = await tempDir();
  const warn = vi.fn();
  const rungs = [fakeRung('gvisor', no('x')), fakeRung('namespaces', no('x'))];
  const swept = vi.fn(async () => {});
  rungs[0]!.sweep = () => Promise.reject(new Error('EBUSY'));
  rungs[1]!.sweep = swept;
  await new Ladder(rungs, { verdicts: new Verdicts(dir.root), log: { ...silentLog, warn } }).sweep();
  expect([swept.mock.calls.length, warn.mock.calls]).toEqual([
    1,
    [['could not remove leftovers of an earlier process', { rung: 'gvisor', why: 'Error: EBUSY' }]],
  ]);
});

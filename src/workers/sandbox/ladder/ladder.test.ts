import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, expect, test, vi } from 'vitest';

import { silentLog, type Log } from '#contract';
import { fakeBackend, no, tempDir, yes, type FakeBackend, type TempDir } from '#testing';
import { Ladder } from './ladder.ts';
import { Verdicts } from './verdicts.ts';

const DAY_MS = 86_400_000;
const { signal } = new AbortController();

afterEach(() => void vi.restoreAllMocks());

/** A ladder of one rung, as in a process of its own: only the folder is shared. */
function ladderOf(dir: TempDir, backend: FakeBackend, log: Log = silentLog): Ladder {
  return new Ladder([backend], { verdicts: new Verdicts(dir.root), log });
}

/** Makes a probe count as slow without waiting for it. */
function slowly(backend: FakeBackend): FakeBackend {
  const start = performance.now();
  backend.beforeAnswer = async () => {
    vi.spyOn(performance, 'now').mockReturnValue(start + 5000);
  };
  return backend;
}

test('a yes is remembered by the next process', async () => {
  await using dir = await tempDir();
  const backend = fakeBackend('gvisor', yes);
  expect(await ladderOf(dir, backend).ask(backend, { signal })).toMatchObject({
    isRemembered: false,
    probe: backend.answer,
  });

  const again = fakeBackend('gvisor', no('must not be asked'));
  expect(await ladderOf(dir, again).ask(again, { signal })).toMatchObject({
    isRemembered: true,
    probe: backend.answer,
  });
  expect([backend.probes, again.probes]).toEqual([1, 0]);
});

test('a slow no is remembered, a fast one is asked for again', async () => {
  await using dir = await tempDir();
  const fast = fakeBackend('gvisor', no('runsc is not installed'));
  const slow = slowly(fakeBackend('qemu+kvm', no('no answer within 5 s')));
  for (const backend of [fast, slow]) {
    for (let times = 0; times < 2; times++) await ladderOf(dir, backend).ask(backend, { signal });
    vi.restoreAllMocks();
  }
  expect([fast.probes, slow.probes]).toEqual([2, 1]);
});

test.each([
  ['the programs changed', (backend: FakeBackend) => void (backend.programs = 'two'), {}],
  ['a caller wants a fresh one', () => {}, { isFresh: true }],
  ['a day has passed', () => void vi.spyOn(Date, 'now').mockReturnValue(Date.now() + DAY_MS), {}],
  ['the clock was set back', () => void vi.spyOn(Date, 'now').mockReturnValue(Date.now() - DAY_MS), {}],
])('a remembered no is asked for again when %s', async (_, change, asking) => {
  await using dir = await tempDir();
  const backend = slowly(fakeBackend('qemu+kvm', no('no answer within 5 s')));
  await ladderOf(dir, backend).ask(backend, { signal });
  vi.restoreAllMocks();

  change(backend);
  backend.answer = yes;
  backend.beforeAnswer = async () => {};
  const answer = await ladderOf(dir, backend).ask(backend, { signal, ...asking });
  expect(answer).toMatchObject({ isRemembered: false, probe: backend.answer });
});

test('a verdict of another kernel is not believed', async () => {
  await using dir = await tempDir();
  const backend = fakeBackend('gvisor', yes);
  const verdicts = new Verdicts(dir.root);
  const before = { fingerprint: 'one', askedAtMs: Date.now(), tookMs: 5000, isDoubted: false, probe: backend.answer };
  verdicts.keep('gvisor', { ...before, kernel: '2.6.0' });
  expect(await ladderOf(dir, backend).ask(backend, { signal })).toMatchObject({ isRemembered: false });
});

test('sandbox.P15 a yes that did not hold is asked for again, and its end is a warning', async () => {
  await using dir = await tempDir();
  const warn = vi.fn();
  const backend = fakeBackend('qemu+kvm', yes);
  const ladder = ladderOf(dir, backend, { ...silentLog, warn });
  await ladder.ask(backend, { signal });

  ladder.doubt(backend);
  backend.answer = no('the device is gone');
  for (let times = 0; times < 2; times++) {
    expect(await ladder.ask(backend, { signal })).toMatchObject({ isRemembered: false, probe: backend.answer });
  }
  expect(warn.mock.calls).toEqual([
    ['an isolation rung that worked no longer works', { rung: 'qemu+kvm', reason: 'the device is gone' }],
  ]);
});

test('callers that ask at the same time share one probe, which continues when one of them aborts', async () => {
  await using dir = await tempDir();
  const backend = fakeBackend('qemu+tcg', yes);
  backend.beforeAnswer = () => sleep(50);
  const ladder = ladderOf(dir, backend);
  const leaver = new AbortController();
  const answers = Promise.allSettled([
    ladder.ask(backend, { signal: leaver.signal }),
    ladder.ask(backend, { signal }),
    ladder.ask(backend, { signal }),
  ]);
  leaver.abort(new Error('left'));
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(backend.probes).toBe(1);
});

test('a probe that all callers aborted is not a verdict', async () => {
  await using dir = await tempDir();
  const backend = fakeBackend('qemu+tcg', no('aborted'));
  const leaver = new AbortController();
  backend.beforeAnswer = async () => leaver.abort(new Error('left'));
  await expect(ladderOf(dir, backend).ask(backend, { signal: leaver.signal })).rejects.toThrow('left');
  expect(new Verdicts(dir.root).recall('qemu+tcg')).toBeUndefined();
});

test('a reason is printed on one line', async () => {
  await using dir = await tempDir();
  const backend = fakeBackend('gvisor', no('runsc failed:\n  no such flag\n'));
  const { probe } = await ladderOf(dir, backend).ask(backend, { signal });
  expect(probe).toEqual(no('runsc failed: no such flag'));
});

test('a rung that cannot be swept is a warning, and the others are swept', async () => {
  await using dir = await tempDir();
  const warn = vi.fn();
  const rungs = [fakeBackend('gvisor', no('x')), fakeBackend('namespaces', no('x'))];
  const swept = vi.fn(async () => {});
  rungs[0]!.sweep = () => Promise.reject(new Error('EBUSY'));
  rungs[1]!.sweep = swept;
  await new Ladder(rungs, { verdicts: new Verdicts(dir.root), log: { ...silentLog, warn } }).sweep();
  expect([swept.mock.calls.length, warn.mock.calls]).toEqual([
    1,
    [['could not remove leftovers of an earlier process', { rung: 'gvisor', why: 'Error: EBUSY' }]],
  ]);
});

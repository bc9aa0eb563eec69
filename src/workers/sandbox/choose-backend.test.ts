import { expect, test, vi } from 'vitest';

import { silentLog, type Failure } from '#contract';
import { fakeBackend, no, tempDir, yes, type FakeBackend, type TempDir } from '#testing';
import { BackendChoice } from './choose-backend.ts';
import { configSchema } from './config.ts';
import { Ladder } from './ladder/ladder.ts';
import { Verdicts } from './ladder/verdicts.ts';

const { signal } = new AbortController();

function choiceOf(dir: TempDir, rungs: FakeBackend[], config: Record<string, unknown> = {}, log = silentLog) {
  return new BackendChoice(
    new Ladder(rungs, { verdicts: new Verdicts(dir.root), log }),
    configSchema.parse(config),
    log,
  );
}

/** A host on which only some rungs work. */
function host(working: Record<string, FakeBackend['answer']>): FakeBackend[] {
  const all = ['qemu+kvm', 'gvisor', 'qemu+tcg', 'namespaces'];
  return all.map((rung) => fakeBackend(rung, working[rung] ?? no(`${rung} is broken`)));
}

/** What to set up depends on the host that the tests run on. */
const withoutAdvice = ({ message }: Error) => message.split('; to get one')[0];

test.each([
  ['auto', 'qemu+kvm', { 'qemu+kvm': yes, gvisor: yes }, {}],
  ['auto', 'gvisor', { gvisor: yes, 'qemu+tcg': yes }, {}],
  ['auto', 'qemu+tcg', { 'qemu+tcg': yes, namespaces: yes }, {}],
  ['auto', 'namespaces', { namespaces: yes }, { allow_weak_isolation: true }],
  ['qemu', 'qemu+tcg', { gvisor: yes, 'qemu+tcg': yes }, {}],
  ['namespaces', 'namespaces', { 'qemu+kvm': yes, namespaces: yes }, {}],
])('sandbox.P14 backend: %s takes %s, the first of its rungs that works', async (backend, rung, working, more) => {
  await using dir = await tempDir();
  const chosen = await choiceOf(dir, host(working), { backend, ...more }).choose(signal);
  expect(chosen.backend.rung).toBe(rung);
});

test('S300 has the reason of every rung', async () => {
  await using dir = await tempDir();
  const choosing = choiceOf(dir, host({ namespaces: yes })).choose(signal);
  const failure = (await choosing.catch((error: unknown) => error)) as Failure;
  expect([failure.code, withoutAdvice(failure)]).toEqual([
    'S300',
    'VM boot failed: qemu+kvm: qemu+kvm is broken; gvisor: gvisor is broken; ' +
      'qemu+tcg: qemu+tcg is broken; namespaces: works but shares the kernel of this machine; to accept that set ' +
      'backend: namespaces or allow_weak_isolation: true in the iii-sandbox block',
  ]);
});

test('a named backend is not replaced by another, and S300 has only the reasons of its rungs', async () => {
  await using dir = await tempDir();
  const choosing = choiceOf(dir, host({ gvisor: yes }), { backend: 'qemu' }).choose(signal);
  const failure = (await choosing.catch((error: unknown) => error)) as Failure;
  expect(withoutAdvice(failure)).toBe('VM boot failed: qemu+kvm: qemu+kvm is broken; qemu+tcg: qemu+tcg is broken');
});

test('a choice stays until a machine does not start; then the next takes its place, with a warning', async () => {
  await using dir = await tempDir();
  const warn = vi.fn();
  const rungs = host({ 'qemu+kvm': yes, gvisor: yes });
  const choice = choiceOf(dir, rungs, {}, { ...silentLog, warn });
  const first = await choice.choose(signal);
  rungs[0]!.answer = no('the device is gone');
  expect(await choice.choose(signal)).toBe(first);

  first.doubt();
  expect((await choice.choose(signal)).backend.rung).toBe('gvisor');
  expect(warn.mock.calls).toEqual([
    ['an isolation rung that worked no longer works', { rung: 'qemu+kvm', reason: 'the device is gone' }],
  ]);
});

test('creates at the same time probe each rung once', async () => {
  await using dir = await tempDir();
  const rungs = host({ gvisor: yes });
  const choice = choiceOf(dir, rungs);
  await Promise.all(Array.from({ length: 8 }, () => choice.choose(signal)));
  expect(rungs.map(({ probes }) => probes)).toEqual([1, 1, 0, 0]);
});

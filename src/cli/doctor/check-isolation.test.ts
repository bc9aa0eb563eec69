/** The doctor's report of rungs, and the rungs that it does not try; the test decides their answers. */
import { expect, test } from 'vitest';

import { fakeBackend, no, yes, type FakeBackend } from '#testing';
import { sandbox, type Ladder } from '#workers/sandbox';
import { checkIsolation } from './check-isolation.ts';

const config = sandbox.config.parse({});

/** Probes each rung, as a ladder without a cache. */
function ladderOf(rungs: FakeBackend[], remembered: readonly string[] = []): Ladder {
  const answer = { tookMs: 100, askedAtMs: 0, isRemembered: false };
  return {
    rungs,
    ask: async (backend: FakeBackend) => ({ ...answer, probe: await backend.probe(new AbortController().signal) }),
    recall: ({ rung }: FakeBackend) => (remembered.includes(rung) ? { ...answer, probe: no('slow') } : undefined),
    doubt() {},
    close: async () => {},
  } as unknown as Ladder;
}

async function check(rungs: FakeBackend[], { isFresh = false, remembered = [] as string[], more = {} } = {}) {
  const { signal } = new AbortController();
  const trying = { signal, isFresh, onTry: () => {} };
  const findings = await checkIsolation({ ...config, ...more }, trying, ladderOf(rungs, remembered));
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]));
}

const gvisor = () => fakeBackend('gvisor', yes);
const emulation = () => fakeBackend('qemu+tcg', yes);

test('emulation is not tried where something stronger works', async () => {
  const slow = emulation();
  expect((await check([gvisor(), slow]))['qemu+tcg']).toEqual({
    check: 'qemu+tcg',
    status: 'off',
    detail: 'not tried: gvisor works and is faster',
    fix: 'workcell doctor --fresh tries it',
  });
  expect(slow.probes).toBe(0);
});

test.each<[string, FakeBackend[], Parameters<typeof check>[1]]>([
  ['nothing stronger works', [fakeBackend('gvisor', no('missing'))], {}],
  ['--fresh is given', [gvisor()], { isFresh: true }],
  ['it is known already', [gvisor()], { remembered: ['qemu+tcg'] }],
  ['it is what the configuration wants', [gvisor()], { more: { backend: 'qemu' } }],
])('emulation is asked when %s', async (_, stronger, options) => {
  const slow = emulation();
  await check([...stronger, slow], options);
  expect(slow.probes).toBeGreaterThan(0);
});

test.each([
  ['0.0~20221219.0', 'warn'],
  ['release-20221107.0', 'warn'],
  [`release-${new Date().getFullYear()}0101.0`, 'ok'],
  ['built from source', 'ok'],
])('runsc %s is %s', async (version, status) => {
  const detail = `runsc ${version}, root, limits by cgroup2`;
  const found = await check([fakeBackend('gvisor', { ok: true, detail })]);
  expect(found.gvisor?.status).toBe(status);
  if (status === 'warn') expect(found.gvisor?.detail).toContain('its runsc was released on 2022-1');
});

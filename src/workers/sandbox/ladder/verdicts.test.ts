import { readdirSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { Verdicts, type Verdict } from './verdicts.ts';

const verdict: Verdict = {
  kernel: '6.1.0',
  fingerprint: 'runsc 2022',
  askedAtMs: 1_000,
  tookMs: 150,
  isDoubted: false,
  probe: { ok: true, detail: 'ptrace' },
};
const refusal: Verdict = { ...verdict, probe: { ok: false, reason: 'no answer', stderrTail: 'panic' } };

test('a verdict is found again by another process, beside those of other rungs', async () => {
  await using dir = await tempDir();
  const cacheDir = dir.path('cache');
  new Verdicts(cacheDir).keep('gvisor', verdict);
  new Verdicts(cacheDir).keep('qemu+kvm', refusal);

  const later = new Verdicts(cacheDir);
  expect([later.recall('gvisor'), later.recall('qemu+kvm'), later.recall('qemu+tcg')]).toEqual([
    verdict,
    refusal,
    undefined,
  ]);
  expect(readdirSync(cacheDir)).toEqual(['verdicts.json']);
});

test.each([
  ['no JSON', '{"gvisor":'],
  ['of another shape', '{"gvisor": {"ok": true}}'],
  ['empty', ''],
])('a file that is %s counts as none and is replaced', async (_, text) => {
  await using dir = await tempDir({ 'verdicts.json': text });
  const verdicts = new Verdicts(dir.root);
  expect(verdicts.recall('gvisor')).toBeUndefined();

  verdicts.keep('gvisor', verdict);
  expect(JSON.parse(readFileSync(dir.path('verdicts.json'), 'utf8'))).toEqual({ gvisor: verdict });
});

test('a doubted verdict stays, marked as such; where there is none nothing is written', async () => {
  await using dir = await tempDir();
  const verdicts = new Verdicts(dir.root);
  verdicts.doubt('gvisor');
  expect(readdirSync(dir.root)).toEqual([]);

  verdicts.keep('gvisor', verdict);
  verdicts.doubt('gvisor');
  expect(verdicts.recall('gvisor')).toEqual({ ...verdict, isDoubted: true });
});

test.skipIf(process.platform !== 'linux')('in a read-only folder, nothing is remembered and nothing fails', () => {
  const verdicts = new Verdicts('/sys/workcell');
  verdicts.keep('gvisor', verdict);
  expect(verdicts.recall('gvisor')).toBeUndefined();
});

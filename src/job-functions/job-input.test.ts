/** Input for a real program that takes its time to read it. */
import { createHash } from 'node:crypto';

import { expect, test } from 'vitest';

import { Children } from '#host';
import { JobInput } from './job-input.ts';

const MIB = 1_048_576;
const bytes = Buffer.from(Array.from({ length: 10 * MIB }, (_, n) => (n * 7 + (n >> 9)) % 251));

async function started(script: string) {
  const children = await Children.open();
  const argv = ['/bin/sh', '-c', script];
  const work = await children.start({ argv, env: { PATH: process.env.PATH! }, maxOutputBytes: 100, keepsInput: true });
  return { work, input: new JobInput(work.process.input!), [Symbol.asyncDispose]: () => children.close() };
}

test('live.D9 10 MB for a program that does not read: the time ends, and each byte arrives once when it does', async () => {
  await using own = await started('kill -STOP $$; md5sum');
  const { work, input } = own;
  const first = await input.write(bytes.subarray(0, MIB), 100);
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(MIB);
  // While a piece is unread, there is no room for another.
  expect(await Promise.all([input.write(bytes.subarray(first), 50), input.write(bytes.subarray(first), 50)])).toEqual([
    0, 0,
  ]);

  await work.process.sendSignal('SIGCONT');
  for (let at = first; at < bytes.length;) at += await input.write(bytes.subarray(at, at + MIB), 20);
  input.end();
  const { stdout } = await work.done;
  expect(stdout.toString().slice(0, 32)).toBe(createHash('md5').update(bytes).digest('hex'));
}, 60_000);

test('live.D9 shell.P21 callers write one after another, and the end comes last', async () => {
  await using own = await started('cat');
  const { work, input } = own;
  const texts = ['one ', 'two ', 'three'];
  const writes = texts.map((text) => input.write(Buffer.from(text), 10_000));
  expect(await Promise.all(writes)).toEqual(texts.map(({ length }) => length));
  input.end();
  expect((await work.done).stdout.toString()).toBe(texts.join(''));
});

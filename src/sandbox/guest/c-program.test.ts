/** Programs are built once, with equal bytes every time, and report a missing compiler. */
import { readdirSync, readFileSync, statSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { buildAgent } from './build-agent.ts';
import { buildProgram } from './c-program.ts';

test('two builds of the agent are equal byte for byte, and a third is not made', async () => {
  await using a = await tempDir();
  await using b = await tempDir();
  const [first, second] = [await buildAgent(a.root), await buildAgent(b.root)];
  expect(readFileSync(first).equals(readFileSync(second))).toBe(true);

  const built = statSync(first).mtimeMs;
  expect(await buildAgent(a.root)).toBe(first);
  expect(statSync(first).mtimeMs).toBe(built);
}, 300_000);

test('a program that many ask for at once is built for all', async () => {
  await using dir = await tempDir({ 'p.c': 'int main(void) { return 0; }' });
  const program = { name: 'p', sources: [dir.path('p.c')], cacheDir: dir.path('cache') };
  const paths = await Promise.all([1, 2, 3].map(() => buildProgram(program)));
  expect(new Set(paths).size).toBe(1);
  expect(readdirSync(dir.path('cache'))).toHaveLength(1);
}, 60_000);

test('a program that does not compile says so and leaves nothing', async () => {
  await using dir = await tempDir({ 'p.c': 'no C' });
  const building = buildProgram({ name: 'p', sources: [dir.path('p.c')], cacheDir: dir.path('cache') });
  await expect(building).rejects.toThrow(/^no C compiler could build p-[0-9a-f]{16}; install musl-tools or gcc/);
  expect(readdirSync(dir.path('cache'))).toEqual([]);
}, 60_000);

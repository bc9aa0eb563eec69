/** Templates on the disk, with files of the size that the test gives them. */
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { TemplateStore } from './template-store.ts';
import type { Template } from './template.ts';

const waiter = { signal: new AbortController().signal };

async function fill(dir: string, bytes = 1): Promise<void> {
  mkdirSync(dir);
  writeFileSync(join(dir, 'memory'), Buffer.alloc(bytes, 1));
  writeFileSync(join(dir, 'template.json'), '{"machine":"microvm","ram":"file"}');
}

test('a template is made once, however many want it at the same time', async () => {
  await using cache = await tempDir();
  const store = new TemplateStore(cache.root);
  let made = 0;
  const get = () =>
    store.get('key', waiter, async (dir) => {
      made++;
      await fill(dir);
    });
  const found = [...(await Promise.all([get(), get(), get()])), await get()];
  expect(made).toBe(1);
  expect(new Set(found.map(({ dir }) => dir))).toEqual(new Set([cache.path('templates/key')]));
});

test('what failed half way leaves nothing, and is made anew', async () => {
  await using cache = await tempDir();
  const store = new TemplateStore(cache.root);
  const failing = store.get('key', waiter, async (dir) => {
    await fill(dir);
    throw new Error('half way');
  });
  await expect(failing).rejects.toThrow('half way');
  expect(readdirSync(cache.path('templates'))).toEqual([]);
  expect(await store.get('key', waiter, (dir) => fill(dir))).toMatchObject({
    facts: { machine: 'microvm', ram: 'file' },
  });
});

test('of too many the ones unused longest are removed, and none that was used a moment ago', async () => {
  await using cache = await tempDir();
  const store = new TemplateStore(cache.root, { maxTemplates: 3, startingMs: 60_000 });
  for (const key of ['a', 'b', 'c']) await store.get(key, waiter, (dir) => fill(dir));
  age(cache.path('templates/a'), 300);
  age(cache.path('templates/b'), 200);
  await store.get('d', waiter, (dir) => fill(dir));
  expect(['a', 'b', 'c', 'd'].filter((key) => existsSync(cache.path(`templates/${key}`)))).toEqual(['b', 'c', 'd']);
  await store.get('e', waiter, (dir) => fill(dir));
  await store.get('f', waiter, (dir) => fill(dir));
  expect(['b', 'c', 'd', 'e', 'f'].filter((key) => existsSync(cache.path(`templates/${key}`)))).toEqual([
    'c',
    'd',
    'e',
    'f',
  ]);
});

test('of too large ones too', async () => {
  await using cache = await tempDir();
  const store = new TemplateStore(cache.root, { maxBytes: 100_000, startingMs: 60_000 });
  await store.get('a', waiter, (dir) => fill(dir, 90_000));
  await store.get('b', waiter, (dir) => fill(dir, 90_000));
  age(cache.path('templates/a'), 300);
  await store.get('c', waiter, (dir) => fill(dir));
  expect(readdirSync(cache.path('templates')).filter((name) => !name.startsWith('.'))).toEqual(['b', 'c']);
});

test('what another process removes meanwhile is made anew, and does not disturb the pruning', async () => {
  await using cache = await tempDir({ 'templates/gone': { symlink: 'nowhere' } });
  let removals = 0;
  class Raced extends TemplateStore {
    override use(template: Template): Template {
      if (removals++ === 0) rmSync(template.dir, { recursive: true });
      return super.use(template);
    }
  }
  const store = new Raced(cache.root, { maxTemplates: 1 });
  let made = 0;
  const { dir } = await store.get('key', waiter, async (draft) => {
    made++;
    await fill(draft);
  });
  expect([made, readdirSync(dir)]).toEqual([2, ['memory', 'template.json']]);
});

function age(dir: string, seconds: number): void {
  const then = Date.now() / 1000 - seconds;
  utimesSync(dir, then, then);
}

/** Templates of a machine that really boots, and the leftovers of those that do not. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { silentLog, type Log } from '#contract';
import { buildProgram, sourcePath } from '#sandbox/guest';
import { guestRoot, qemuCache, whyNoQemu, type TempDir } from '#testing';
import { openLimiter } from '../../../limits/limits.ts';
import type { Shape } from '../../backend.ts';
import { startMachine } from '../../machine.contract.ts';
import { prepareIngredients, type Ingredients } from '../files/ingredients.ts';
import { makeTemplate } from './make-template.ts';
import { QemuBackend } from '../qemu-backend.ts';
import { openPrograms } from '../qemu-programs.ts';
import type { QemuHost } from '../start-qemu.ts';
import { Template } from './template.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const SLOWNESS = 6;
const SIZE = { cpus: 1, memoryMb: 64, diskMb: 16 };
const BOOT_MS = 120_000;
const whyNot = await whyNoQemu();

describe.skipIf(whyNot !== undefined)(`templates${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let host: QemuHost;
  let ingredients: Ingredients;
  let shape: Shape;
  const { signal } = new AbortController();
  const made: string[] = [];
  const log: Log = { ...silentLog, info: (message) => made.push(message) };
  const open = (more: { ram?: 'file' | 'stream' } = {}) =>
    new QemuBackend({ cacheDir: cache.root, accelerator: 'tcg', log, ...more });

  beforeAll(async () => {
    [root, cache] = [await guestRoot(), await qemuCache()];
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    shape = { image, ...SIZE };
    ingredients = await prepareIngredients(image, { cacheDir: cache.root, signal });
    const sources = [sourcePath('../start-gate.c', import.meta.url)];
    const gate = await buildProgram({ name: 'start-gate', sources, cacheDir: cache.path('programs') });
    host = { programs: await openPrograms(), accelerator: 'tcg', limiter: openLimiter(), gate, library: undefined };
  });

  afterAll(async () => {
    for (const dir of [root, cache]) await dir[Symbol.asyncDispose]();
  });

  test('one boot serves all callers at once, and the next daemon too', async () => {
    made.length = 0;
    const backend = open();
    await Promise.all([1, 2, 3].map(() => backend.prepare(shape, signal)));
    await open().prepare(shape, signal);
    expect(made).toEqual(['a template of a machine was made']);
  });

  test('a template is complete, and read-only for all', async () => {
    await open().prepare(shape, signal);
    const [name] = templates();
    const dir = cache.path(`templates/${name}`);
    expect(readdirSync(dir).toSorted()).toEqual(['memory', 'scratch', 'state', 'template.json']);
    expect(Template.open(dir).facts.ram).toBe('file');
    expect(readFileSync(`${dir}/state`).length).toBeLessThan(1_000_000);
  });

  test('without a file for the memory a machine is the same', async () => {
    await using machine = await startMachine(open({ ram: 'stream' }), shape, SLOWNESS);
    expect((await machine.sh('echo alive; cat /image-file')).stdout).toBe('alive\nfrom the image');
    expect(templates().some((name) => !existsSync(cache.path(`templates/${name}/memory`)))).toBe(true);
  });

  test('the machine of the second try makes a template too', async () => {
    const dir = cache.path('second-try');
    const spec = { size: SIZE, ingredients, ram: 'file' as const, bootMs: BOOT_MS, machines: ['q35' as const] };
    await makeTemplate(host, spec, { dir, signal });
    expect(Template.open(dir).facts).toEqual({ machine: 'q35', ram: 'file' });
  });

  test('a boot that does not end in time is tried once more, and both are reported', async () => {
    const dir = cache.path('late');
    const making = makeTemplate(host, { size: SIZE, ingredients, ram: 'file', bootMs: 50 }, { dir, signal });
    await expect(making).rejects.toThrow(
      /^no machine boots: microvm: the guest did not answer within 50 ms.*; q35: the guest did not answer within 50 ms/s,
    );
  });

  test('a machine that says why it cannot boot is not waited for', async () => {
    const dir = cache.path('broken');
    const broken = { ...ingredients, root: ingredients.initramfs };
    const spec = { size: SIZE, ingredients: broken, ram: 'file' as const, bootMs: BOOT_MS };
    await expect(makeTemplate(host, spec, { dir, signal })).rejects.toThrow(/boot: cannot mount .* on \/lower/);
  });

  test('one whose callers left leaves nothing', async () => {
    const before = templates();
    const wanted = new AbortController();
    const preparing = open().prepare({ ...shape, memoryMb: 70 }, wanted.signal);
    await expect.poll(() => drafts().length, { timeout: 60_000 }).toBe(1);
    wanted.abort(new Error('the caller left'));
    await expect(preparing).rejects.toThrow('the caller left');
    await expect.poll(drafts, { timeout: 60_000 }).toEqual([]);
    expect(templates()).toEqual(before);
  });

  test('a state that QEMU rejects is reported at once, in its words', async () => {
    const backend = open();
    const other = { ...shape, memoryMb: 72 };
    const before = templates();
    await backend.prepare(other, signal);
    const [name] = templates().filter((entry) => !before.includes(entry));
    const state = cache.path(`templates/${name}/state`);
    chmodSync(state, 0o600);
    writeFileSync(state, 'no state');
    await expect(startMachine(backend, other, SLOWNESS)).rejects.toThrow(/migration stream|load of migration failed/);
  });

  function templates(): string[] {
    return readdirSync(cache.path('templates')).filter((name) => !name.startsWith('.'));
  }

  function drafts(): string[] {
    return readdirSync(cache.path('templates')).filter((name) => name.startsWith('.new-'));
  }
});

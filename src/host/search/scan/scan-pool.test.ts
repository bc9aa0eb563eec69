/** The search processes from outside: their start, end and failures. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing/basics';
import { openJail } from '../../jail/jail.ts';
import { SearchEngine, type SearchEngineOptions } from '../search-engine.ts';

const REQUEST = {
  path: '.',
  includeGlobs: [],
  excludeGlobs: [],
  query: {
    pattern: 'h[i]t',
    isRegex: true,
    ignoreCase: false,
    wantsContent: true,
    wantsPaths: false,
    maxMatches: 10,
    maxLineBytes: 100,
    contextLines: 0,
  },
};
const OPTIONS = { protectedGlobs: [], maxFileBytes: 1 << 20, index: 'off', indexMemoryBytes: 0 } as const;
const openEngine = (root: string, more: Partial<SearchEngineOptions> = {}) =>
  new SearchEngine(openJail(root), { root, ...OPTIONS, ...more });
const untilDone = () => ({ signal: new AbortController().signal });

describe.skipIf(process.platform !== 'linux')('search processes', () => {
  test('are kept for the next search, and ended on close', async () => {
    await using dir = await tempDir({ a: 'hit' });
    const others = childrenOf(process.pid);
    const started = () => childrenOf(process.pid).filter((pid) => !others.includes(pid));
    const engine = openEngine(dir.root);
    try {
      await engine.search(REQUEST, untilDone());
      const [first] = started();
      expect(first).toBeDefined();
      await engine.search(REQUEST, untilDone());
      expect(started()).toContain(first);
    } finally {
      engine.close();
    }
    await expect.poll(started).toEqual([]);
  });

  test('are there before the first search when it was prepared, and so is the index', async () => {
    await using dir = await tempDir({ a: 'hit', 'd/b': 'hit', 'd/c': '' });
    const others = childrenOf(process.pid);
    const started = () => childrenOf(process.pid).filter((pid) => !others.includes(pid));
    const options = { index: 'auto', indexMemoryBytes: 1 << 26 } as const;
    const [engine, small] = [3, 4].map((indexFromFiles) => openEngine(dir.root, { ...options, indexFromFiles }));
    try {
      await small!.prepare();
      expect(started()).toEqual([]);
      await engine!.prepare();
      expect(engine!.isWarm).toBe(true);
      await expect.poll(started).toHaveLength(Math.min(availableParallelism(), 8));
      expect((await engine!.search(REQUEST, untilDone())).contentMatches).toHaveLength(2);
      expect(small!.isWarm).toBe(false);
    } finally {
      engine!.close();
      small!.close();
    }
    await expect.poll(started).toEqual([]);
  });

  test('are replaced before the next search when they are stuck in one that has ended', async () => {
    // Reading it takes one process half a minute.
    const noise = Array.from({ length: 400_000 }, (_, i) => 'ab'[((i * i * 7919) % 11) & 1]).join('');
    await using dir = await tempDir({ slow: `é${noise.repeat(15)}` });
    const others = childrenOf(process.pid);
    const started = () => childrenOf(process.pid).filter((pid) => !others.includes(pid));
    const engine = openEngine(dir.root, { maxFileBytes: 1 << 23 });
    const query = { ...REQUEST.query, pattern: '\\b(?:[abé]*a[abé]{200}){2}[^abé]\\b' };
    try {
      const controller = new AbortController();
      const search = engine.search({ ...REQUEST, query }, controller).catch(() => {});
      // More processor time than a start takes.
      await expect.poll(() => Math.max(0, ...started().map(usedSecs))).toBeGreaterThan(1);
      const before = started();
      controller.abort();
      await search;
      await expect.poll(() => before.every((pid) => started().includes(pid))).toBe(false);
      await expect.poll(started).toHaveLength(before.length);
    } finally {
      engine.close();
    }
  });

  test('are ended when there was no search for long, and started again for the next', async () => {
    await using dir = await tempDir({ a: 'hit' });
    const others = childrenOf(process.pid);
    const started = () => childrenOf(process.pid).filter((pid) => !others.includes(pid));
    const engine = openEngine(dir.root, { processesIdleMs: 50 });
    try {
      for (let i = 0; i < 2; i++) {
        expect((await engine.search(REQUEST, untilDone())).contentMatches).toHaveLength(1);
        await expect.poll(started).toEqual([]);
      }
    } finally {
      engine.close();
    }
  });

  test('end when the process is killed that started them', async () => {
    await using dir = await tempDir({ a: 'hit' });
    const child = searchElsewhere(dir.root, 'setInterval(() => {}, 1000);');
    await once(child.stdout, 'data');
    const pids = childrenOf(child.pid!);
    expect(pids.length).toBeGreaterThan(0);

    child.kill('SIGKILL');
    await expect.poll(() => pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });

  test('do not keep a process alive that has nothing else to do', async () => {
    await using dir = await tempDir({ a: 'hit' });
    const child = searchElsewhere(dir.root);
    const [[out], [code]] = await Promise.all([once(child.stdout, 'data'), once(child, 'exit')]);
    expect([String(out), code]).toEqual(['1\n', 0]);
  });

  test('that cannot be started fail the searches that need one, and are not tried for the others', async () => {
    await using dir = await tempDir({ a: 'hit' });
    writeFileSync(dir.path('node'), `#!/bin/sh\necho start >> ${dir.path('starts')}\nexit 1\n`, { mode: 0o755 });
    const engine = openEngine(dir.root, { aloneMs: 0 });
    const node = process.execPath;
    try {
      process.execPath = dir.path('node');
      const search = (isRegex: boolean) =>
        engine.search({ ...REQUEST, query: { ...REQUEST.query, pattern: 'hit', isRegex } }, untilDone());
      await expect(search(true)).rejects.toThrow('a search process ended');
      for (let i = 0; i < 5; i++) expect((await search(false)).contentMatches).toHaveLength(1);
      await expect(search(true)).rejects.toThrow('a search process ended');
      expect(readFileSync(dir.path('starts'), 'utf8')).toBe('start\nstart\n');
    } finally {
      process.execPath = node;
      engine.close();
    }
  });
});

/** A process that searches once, prints how many matches it found, and continues with the given code. */
function searchElsewhere(cwd: string, then = '') {
  const host = new URL('../../../../dist/host/index.js', import.meta.url);
  const script = `
    const { openJail, SearchEngine } = await import(${JSON.stringify(host.href)});
    const engine = new SearchEngine(openJail('.'), { root: '.', ...${JSON.stringify(OPTIONS)} });
    const { contentMatches } = await engine.search(${JSON.stringify(REQUEST)}, { signal: new AbortController().signal });
    console.log(contentMatches.length);
    ${then}`;
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
  return spawn(process.execPath, ['--input-type=module', '-e', script], { cwd, stdio });
}

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
}

/** Processor time of a process that lives. */
function usedSecs(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11);
    return (Number(user) + Number(system)) / 100;
  } catch {
    return 0;
  }
}

/**
 * A short regex that takes minutes, sent to everything that runs regexes of callers: each ends by its own limit, reports
 * how far it got and changes nothing. Nothing else ends it: the caller waits for as long as it takes.
 */
import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openJail, SearchEngine } from '#host';
import {
  IMAGE_PATIENCE_MS,
  serveSandboxes,
  serveWorker,
  tempDir,
  whyNoSandbox,
  withEnoughTime,
  type SandboxCases,
  type ServedWorker,
  type TempDir,
} from '#testing';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';

/** Short, and reaches hundreds of new states after every byte. */
const SLOW = 'quick|A[AB]{900}C';
const LINE = noise(4_000_000);

/** As and Bs without a pattern, the same each time. */
function noise(length: number): string {
  const bytes = Buffer.alloc(length);
  for (let i = 0, x = 1; i < length; i++) {
    x = (x * 1_103_515_245 + 12_345) & 0x7fffffff;
    bytes[i] = (x >> 16) & 1 ? 65 : 66;
  }
  return bytes.toString('latin1');
}

const TIMEOUT_MS = 1000;
/** Limits within which the files before the slow one are done: a busy machine needs more than the first. */
const LIMITS_MS = [TIMEOUT_MS, 5000, 15_000] as const;
/** Far less than the pattern takes, and far more than the limit. */
const PATIENCE_MS = 30_000;

const whyNoGuest = await whyNoSandbox(['python']);

let dir: TempDir;
let workers: Record<'coder' | 'filesystem' | 'shell', ServedWorker>;

beforeAll(async () => {
  dir = await tempDir({ 'a/slow.txt': `${LINE}\n`, 'a/quick.txt': 'quick\n', 'a/zlast.txt': 'quick\n' });
  const limit = { search_timeout_ms: TIMEOUT_MS };
  workers = {
    coder: await serveWorker(coder, { base_path: dir.root, fsync: false, ...limit }),
    filesystem: await serveWorker(filesystem, { paths: [dir.root], ...limit }),
    shell: await serveWorker(shell, { fs: { host_root: dir.root, ...limit } }),
  };
});
afterAll(async () => {
  for (const worker of Object.values(workers)) await worker[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

const notDone = (limitMs: number) => `not done after ${limitMs} ms`;
const IN_TIME = notDone(TIMEOUT_MS);

interface SedReply {
  results: { success: boolean; error?: string }[];
}

/** The outcome of a call: its result or its failure as text. */
async function outcome(worker: keyof typeof workers, id: string, payload: object): Promise<string> {
  const calling = workers[worker].call(id, payload, { timeoutMs: PATIENCE_MS });
  return calling.then(JSON.stringify, (error: unknown) => {
    const { code, message } = error as Error & { code?: string };
    return `${code} ${message}`;
  });
}

// Each takes a processor for as long as the limit: together they take no more processors than there are.
describe.concurrent('at once', () => {
  test('coder::search', async () => {
    const reply = await outcome('coder', 'coder::search', { query: SLOW, regex: true });
    expect(reply).toMatch(
      new RegExp(`^C216 ${IN_TIME}: \\d+ files searched, \\d+ matches; .* raise search_timeout_ms$`),
    );
  });

  test('filesystem::grep', async () => {
    const reply = await outcome('filesystem', 'filesystem::grep', { pattern: SLOW });
    expect(reply).toContain(`"metadata":{"code":"F216"}`);
    expect(reply).toContain(`${IN_TIME}: `);
  });

  test('shell::fs::grep', async () => {
    const reply = await outcome('shell', 'shell::fs::grep', { path: dir.root, pattern: SLOW, recursive: true });
    expect(reply).toMatch(new RegExp(`^S216 ${IN_TIME}: \\d+ files searched`));
  });

  test('coder::update-file changes nothing', async () => {
    const ops = [{ op: 'replace', pattern: SLOW, replacement: '' }];
    const reply = await outcome('coder', 'coder::update-file', { files: [{ path: 'a/slow.txt', ops }] });
    expect(reply).toContain('C216');
    expect(reply).toContain(IN_TIME);
    expect(readFileSync(dir.path('a/slow.txt'), 'utf8')).toBe(`${LINE}\n`);
  });
});

test('a search in the index, which had done all files but the one', async () => {
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`a/many/${i}.txt`, 'text\n']));
  await using own = await tempDir({ ...many, 'a/zslow.txt': `${LINE}\n` });
  const limits = { protectedGlobs: [], maxFileBytes: 2 ** 24 };
  const query = { ignoreCase: false, wantsContent: true, wantsPaths: false, maxMatches: 9 };
  const request = (pattern: string, isRegex: boolean) => ({
    query: { ...query, pattern, isRegex, maxLineBytes: 99, contextLines: 0 },
    ...{ path: '.', includeGlobs: [], excludeGlobs: [] },
  });
  // With an engine of its own: the index ends with a search that does not stop.
  const searchSlow = async (timeoutMs: number) => {
    const options = { ...limits, root: own.root, index: 'auto', indexMemoryBytes: 2 ** 26 } as const;
    const engine = new SearchEngine(openJail(own.root), options);
    const search = (pattern: string, isRegex: boolean, timeoutMs?: number) =>
      engine.search(request(pattern, isRegex), new AbortController(), { ...limits, timeoutMs });
    try {
      await expect.poll(async () => (await search('nothing', false), engine.isWarm)).toBe(true);
      return { timeoutMs, reply: await search(SLOW, true, timeoutMs).then(JSON.stringify, String) };
    } finally {
      engine.close();
    }
  };
  const { timeoutMs, reply } = await withEnoughTime(LIMITS_MS, searchSlow, ({ reply }) => reply.includes(' 401 files'));
  expect(reply).toContain(`${notDone(timeoutMs)}: 401 files searched, 0 matches; `);
});

test('shell::fs::sed reports for every file whether it was done', async () => {
  const names = ['quick.txt', 'slow.txt', 'zlast.txt'];
  const sed = async (limitMs: number) => {
    await using own = await tempDir({ 'quick.txt': 'quick\n', 'slow.txt': `${LINE}\n`, 'zlast.txt': 'quick\n' });
    await using worker = await serveWorker(shell, { fs: { host_root: own.root, search_timeout_ms: limitMs } });
    const files = names.map((name) => own.path(name));
    const replying = worker.call<SedReply>(
      'shell::fs::sed',
      { files, pattern: SLOW, replacement: 'b' },
      { timeoutMs: PATIENCE_MS },
    );
    const { results } = await replying.catch(() => ({ results: [] as SedReply['results'] }));
    return {
      results: results.map(({ success, error }) => [success, error?.startsWith(notDone(limitMs))]),
      texts: files.map((path) => readFileSync(path, 'utf8')),
    };
  };
  expect(await withEnoughTime(LIMITS_MS, sed, ({ results }) => results[0]?.[0] === true)).toEqual({
    results: [
      [true, undefined],
      [false, true],
      [false, true],
    ],
    texts: ['b\n', `${LINE}\n`, 'quick\n'],
  });
});

describe.skipIf(whyNoGuest !== undefined)(`in a sandbox${whyNoGuest === undefined ? '' : ` (${whyNoGuest})`}`, () => {
  interface Guest {
    cell: SandboxCases;
    sandbox_id: string;
  }
  /** By limit. */
  const guests = new Map<number, Promise<Guest>>();
  const guestWith = (limitMs: number): Promise<Guest> => {
    const started = guests.get(limitMs) ?? startGuest(limitMs);
    guests.set(limitMs, started);
    return started;
  };
  async function startGuest(limitMs: number): Promise<Guest> {
    const cell = await serveSandboxes({ search_timeout_ms: limitMs });
    const sandbox_id = await cell.create();
    for (const [name, text] of Object.entries({ quick: 'quick\n', slow: `${LINE}\n`, zlast: 'quick\n' })) {
      await cell.call('sandbox::fs::write', { sandbox_id, path: `/tmp/a/${name}`, content: text, parents: true });
    }
    return { cell, sandbox_id };
  }
  afterAll(async () => {
    for (const guest of guests.values()) await (await guest).cell[Symbol.asyncDispose]();
  });

  test('sandbox::fs::grep', { timeout: IMAGE_PATIENCE_MS }, async () => {
    const grep = async (limitMs: number) => {
      const { cell, sandbox_id } = await guestWith(limitMs);
      return {
        limitMs,
        failure: await cell.failure('sandbox::fs::grep', { sandbox_id, path: '/tmp/a', pattern: SLOW }),
      };
    };
    const { limitMs, failure } = await withEnoughTime(
      LIMITS_MS,
      grep,
      ({ failure }) => !String(failure.message).includes(' 0 files searched'),
    );
    const message = expect.stringMatching(`^fs i/o error: ${notDone(limitMs)}: 1 files searched, 1 matches; `);
    expect(failure).toMatchObject({ code: 'S216', message });
  });

  test('sandbox::fs::sed reports for every file whether it was done', { timeout: IMAGE_PATIENCE_MS }, async () => {
    const files = ['quick', 'slow', 'zlast'].map((name) => `/tmp/a/${name}`);
    const sed = async (limitMs: number) => {
      const { cell, sandbox_id } = await guestWith(limitMs);
      const payload = { sandbox_id, files, pattern: SLOW, replacement: 'b' };
      const replying = cell.call<SedReply>('sandbox::fs::sed', payload, { timeoutMs: PATIENCE_MS });
      const { results } = await replying.catch(() => ({ results: [] as SedReply['results'] }));
      return { limitMs, results: results.map(({ success, error }) => [success, error?.startsWith(notDone(limitMs))]) };
    };
    const { limitMs, results } = await withEnoughTime(LIMITS_MS, sed, ({ results }) => results[0]?.[0] === true);
    expect(results).toEqual([
      [true, undefined],
      [false, true],
      [false, true],
    ]);
    const { cell, sandbox_id } = await guestWith(limitMs);
    const found = () =>
      cell
        .call('sandbox::fs::grep', { sandbox_id, path: '/tmp/a', pattern: '^(b|quick)$' }, { timeoutMs: PATIENCE_MS })
        .then(JSON.stringify, String);
    // Asked again on a busy machine: this grep has the same time limit.
    await expect.poll(found).toMatch(/quick.*"b".*zlast.*"quick"/);
  });
});

test('a search that is quick is not held up afterwards', async () => {
  // Asked again on a busy machine, where the limit may be too short for starting a search process.
  const found = () => outcome('coder', 'coder::search', { query: 'a/quic.', regex: true });
  await expect.poll(found).toContain('quick.txt');
});

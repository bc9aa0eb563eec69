/** Memory of jobs. The tests of shell::exec_bg show their behaviour, with real processes. */
import { afterEach, describe, expect, test, vi } from 'vitest';

import type { OutputRing } from '#host';
import type { JobWork } from './background-job.ts';
import { Jobs, MAX_KEPT_JOBS } from './jobs.ts';

const limits = { maxConcurrentJobs: 4, retentionSecs: 3600, maxOutputBytes: 2 ** 20 };

const output = (bytes: number) => ({
  // A slice of a larger buffer, as a reader of pipes would return it.
  stdout: Buffer.alloc(bytes * 2).subarray(0, bytes),
  stderr: Buffer.alloc(0),
  stdoutTruncated: false,
  stderrTruncated: false,
});

/** Work that ends at once with so much output. */
function ending(bytes: number, inRing: number): (ring: OutputRing) => Promise<JobWork> {
  const end = { ...output(bytes), exitCode: 0, signal: null, timedOut: false, durationMs: 0 };
  return async (ring) => {
    ring.add('stdout', Buffer.alloc(inRing));
    return { done: Promise.resolve(end), outputSoFar: () => output(0), kill: async () => {}, process: {} };
  };
}

const asked = (runsOn: 'host' | 'sandbox' = 'host') => ({ argv: ['true'], runsOn, hasInput: false });

async function runMany(jobs: Jobs, count: number, bytes: number, inRing = 0): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    ids.push((await jobs.start(asked(), ending(bytes, inRing))).id);
    await new Promise(setImmediate);
  }
  return ids;
}

describe('ended jobs', () => {
  test('shell.P7 are forgotten from the first on when there are too many', async () => {
    const jobs = new Jobs(limits);
    const ids = await runMany(jobs, MAX_KEPT_JOBS + 3, 10);
    expect(jobs.summaries().map(({ id }) => id)).toEqual(ids.slice(3));
    expect(() => jobs.find(ids[2]!)).toThrow(`no such job: ${ids[2]}`);
    expect(jobs.find(ids[3]!).record()).toMatchObject({ status: 'finished', stdout: '\0'.repeat(10) });
    jobs.close();
  });

  test('shell.P7 are forgotten from the first on when they hold too much', async () => {
    const jobs = new Jobs(limits);
    const ids = await runMany(jobs, 70, 2 ** 20);
    const kept = jobs.summaries().map(({ id }) => id);
    expect(kept).toEqual(ids.slice(-63));
    jobs.close();
  });

  test('live.ring: count the ring as well', async () => {
    const jobs = new Jobs(limits);
    const ids = await runMany(jobs, 70, 2 ** 19, 2 ** 19);
    const kept = jobs.summaries().map(({ id }) => id);
    expect(kept).toEqual(ids.slice(-63));
    jobs.close();
  });

  test('of one wave are all kept, however large the streams may be', async () => {
    const jobs = new Jobs({ ...limits, maxOutputBytes: 16 * 2 ** 20 });
    const ids = await runMany(jobs, 4, 31 * 2 ** 20);
    expect(jobs.summaries().map(({ id }) => id)).toEqual(ids);
    jobs.close();
  });
});

describe('a job that lives on after it was killed', () => {
  afterEach(() => void vi.useRealTimers());

  test.each([
    ['host', 'its processes have not ended: '],
    ['sandbox', 'sandbox::exec cannot be cancelled: '],
  ] as const)('on a %s, says why', async (runsOn, reason) => {
    vi.useFakeTimers();
    const jobs = new Jobs(limits);
    const work = {
      done: new Promise<never>(() => {}),
      outputSoFar: () => output(0),
      kill: async () => {},
      process: {},
    };
    const killing = jobs.kill(await jobs.start(asked(runsOn), async () => work));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await killing).toEqual({ killed: true, status: 'killed', reason: expect.stringContaining(reason) });
    jobs.close();
  });
});

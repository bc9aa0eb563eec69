import { expect, test } from 'vitest';

import type { Failure } from '#contract';
import { HostShare } from './host-share.ts';

const share = () => new HostShare({ max_sandbox_percent: 50, max_total_percent: 80 }, { cpus: 2, memoryMb: 24_000 });
const HUGE = { cpus: 8, memoryMb: 20_000, diskMb: 20_000 };

function refusal(work: () => unknown): unknown {
  try {
    work();
    return 'taken';
  } catch (error) {
    return (error as Failure).toFields();
  }
}

test.each([
  ['processors', HUGE, { cpus: 8 }, 'cpus is 8; on this host it may be 1 (max_sandbox_percent: 50)', { cpus: 1 }],
  [
    'memory and disk',
    HUGE,
    { memory_mb: 20_000, disk_mb: 20_000 },
    "memory_mb 20000 and disk_mb 20000 together take 40000 MiB of this host's memory; one sandbox may take 12000 MiB " +
      '(max_sandbox_percent: 50), and 19200 MiB of the 19200 MiB for all sandboxes are free (max_total_percent: 80)',
    { memory_mb: 6000, disk_mb: 6000 },
  ],
  [
    'memory beside the disk that the operator gives',
    { cpus: 1, memoryMb: 12_000, diskMb: 1024 },
    { memory_mb: 12_000 },
    expect.stringContaining('one sandbox may take 12000 MiB'),
    { memory_mb: 10_976 },
  ],
  [
    'a disk that leaves no room for the memory',
    { cpus: 1, memoryMb: 13_000, diskMb: 20_000 },
    { disk_mb: 20_000 },
    expect.stringContaining('one sandbox may take 12000 MiB'),
    undefined,
  ],
] as const)('more %s than the part of one sandbox is refused', (_, size, asked, problem, fix) => {
  expect(refusal(() => share().take(size, asked))).toEqual({
    code: 'S400',
    message: typeof problem === 'string' ? `resource limit exceeded: ${problem}` : problem,
    ...(fix && { fix }),
  });
});

test('all together take no more than their part, and what one gives back another may take', () => {
  const all = share();
  const size = { cpus: 1, memoryMb: 4000, diskMb: 4000 };
  const asked = { memory_mb: 4000, disk_mb: 4000 };
  const release = all.take(size, asked);
  all.take(size, asked);
  const third = {
    code: 'S400',
    message: expect.stringContaining('3200 MiB of the 19200 MiB for all sandboxes are free (max_total_percent: 80)'),
    fix: { memory_mb: 1600, disk_mb: 1600 },
  };
  expect(refusal(() => all.take(size, asked))).toMatchObject(third);
  release();
  release();
  all.take(size, asked);
  expect(refusal(() => all.take(size, asked))).toMatchObject(third);
});

test('the sizes of the operator are the operator’s, and one sandbox of them is always had', () => {
  const small = new HostShare({ max_sandbox_percent: 50, max_total_percent: 80 }, { cpus: 1, memoryMb: 1000 });
  const size = { cpus: 1, memoryMb: 512, diskMb: 1024 };
  small.take(size, {});
  expect(refusal(() => small.take(size, {}))).toMatchObject({ code: 'S400' });
});

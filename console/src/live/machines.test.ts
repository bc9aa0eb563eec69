import { expect, test, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem() {} });
const { sampled } = await import('./machines.ts');

const sandbox = (cpu_ms: number) => ({
  ...{ sandbox_id: 's', image: 'python', age_secs: 1, cpus: 2 },
  usage: { memory_bytes: 1, pids: 1, cpu_ms, disk_bytes: 1 },
});

test('the use of processors is measured between two loads that are long enough apart', () => {
  const first = sampled(sandbox(100), undefined, 10_000);
  expect(first.busyCpus).toBeUndefined();
  const soon = sampled(sandbox(200), first, 10_100);
  expect([soon.busyCpus, soon.usage?.cpu_ms, soon.loadedAtMs]).toEqual([undefined, 100, 10_000]);
  const later = sampled(sandbox(2_100), soon, 12_000);
  expect([later.busyCpus, later.usage?.cpu_ms]).toEqual([1, 2_100]);
});

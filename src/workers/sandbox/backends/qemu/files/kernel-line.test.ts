/** The kernel command line for each kind of processor. */
import { expect, test } from 'vitest';

import { kernelLine } from './kernel-line.ts';

const CPU_INFO = 'processor\t: 0\nmodel name\t: AMD EPYC\nbogomips\t: 5192.30\n\nprocessor\t: 1\nbogomips\t: 1.00\n';

test('the command line of an emulated x86 kernel has how fast the counter of this host runs', () => {
  const words = kernelLine({ accelerator: 'tcg', memoryMb: 256, arch: 'x64', cpuInfo: CPU_INFO }).split(' ');
  expect(words).toEqual(
    expect.arrayContaining([
      'console=ttyS0',
      'memory_mb=256',
      'tsc=reliable',
      'tsc_early_khz=2596150',
      'lpj=10384600',
      'nokaslr',
    ]),
  );
});

test.each([
  ['on its own processor', { accelerator: 'kvm', arch: 'x64' }, 'console=ttyS0'],
  ['emulated on another kind', { accelerator: 'tcg', arch: 'arm64' }, 'console=ttyAMA0'],
] as const)('a kernel %s measures for itself and keeps its guards', (_, machine, console) => {
  const line = kernelLine({ ...machine, memoryMb: 256, cpuInfo: CPU_INFO });
  expect(line.split(' ')).toContain(console);
  expect(line).not.toMatch(/tsc|lpj|nokaslr|mitigations/);
});

test('without a figure of the host, nothing is made up', () => {
  expect(kernelLine({ accelerator: 'tcg', memoryMb: 256, arch: 'x64', cpuInfo: '' })).not.toMatch(/tsc_early_khz|lpj/);
});

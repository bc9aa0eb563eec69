/** QEMU's command line: which arguments two machines of one state share, and which differ. */
import { expect, test } from 'vitest';

import { qemuArguments, type MachineSpec } from './arguments.ts';

const SPEC: MachineSpec = {
  accelerator: 'tcg',
  machine: 'microvm',
  cpus: 2,
  memoryMb: 512,
  ingredients: { kernel: '/c/kernel', initramfs: '/c/initramfs', root: '/c/a,b.erofs' },
  memory: { path: '/t/a,b/memory', use: 'shared' },
  scratch: { path: '/t/a,b/scratch', use: 'shared' },
};

const valueOf = (args: readonly string[], name: string) => args[args.indexOf(name) + 1];

test('a clone differs from its template in where memory and disk go, and in waiting for a state', () => {
  const template = qemuArguments(SPEC);
  const clone = qemuArguments({
    ...SPEC,
    memory: { ...SPEC.memory!, use: 'private' },
    scratch: { ...SPEC.scratch!, use: 'private' },
    start: 'state',
  });
  const different = clone.filter((word, index) => word !== template[index]);
  expect(different).toEqual([
    expect.stringContaining('"share":false'),
    expect.stringMatching(/^if=none,id=scratch,.*snapshot=on$/),
    '-incoming',
    'defer',
  ]);
});

test('a path with a comma stays one path', () => {
  const args = qemuArguments(SPEC);
  expect(JSON.parse(valueOf(args, '-blockdev')!)).toMatchObject({ filename: '/c/a,b.erofs', 'read-only': true });
  expect(JSON.parse(valueOf(args, '-object')!)).toMatchObject({ 'mem-path': '/t/a,b/memory', size: 576 * 2 ** 20 });
  expect(valueOf(args, '-drive')).toContain('file=/t/a,,b/scratch,');
});

test.each([
  ['microvm', 'virtio-serial-device', 'Nehalem-v1,+rdrand'],
  ['q35', 'virtio-serial-pci', 'Nehalem-v1,+rdrand'],
  ['virt', 'virtio-serial-device', 'max'],
] as const)('%s has devices of its bus', (machine, serial, cpu) => {
  const args = qemuArguments({ ...SPEC, machine });
  expect(args).toContain(serial);
  expect(valueOf(args, '-cpu')).toBe(cpu);
});

test('QEMU may start no program, and says nothing to a network', () => {
  const args = qemuArguments(SPEC);
  expect(valueOf(args, '-sandbox')).toBe('on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny');
  expect(args.join(' ')).not.toMatch(/netdev|-net|-nic/);
});

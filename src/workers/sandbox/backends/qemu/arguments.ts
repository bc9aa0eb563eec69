/**
 * The command line of QEMU for one machine.
 *
 * Two machines that share a state must have the same devices in the same order, so only the backing of the memory and
 * the scratch disk differs between a template and its clones. Descriptors: 3 is the agent's channel, 4 is QMP, 5 is the
 * state that a clone starts from. The console is standard output.
 */
import type { Accelerator } from './accelerators.ts';
import type { Ingredients } from './files/ingredients.ts';
import { kernelLine } from './files/kernel-line.ts';

/** `microvm` starts fastest; `q35` has a clock that an emulated kernel can trust when the other one hangs. */
export type MachineKind = 'microvm' | 'q35' | 'virt';

export interface MachineSpec {
  readonly accelerator: Accelerator;
  readonly machine: MachineKind;
  readonly cpus: number;
  /** Memory for commands; the kernel's memory is added to it. */
  readonly memoryMb: number;
  readonly ingredients: Pick<Ingredients, 'kernel' | 'initramfs' | 'root'>;
  /** A file that backs the memory. Shared: the guest's writes go to the file. Private: they stay in the machine. */
  readonly memory?: { readonly path: string; readonly use: 'shared' | 'private'; readonly isReadOnly?: boolean };
  /**
   * File that backs the scratch disk; without one the machine writes to its memory. Private: the file stays unchanged.
   */
  readonly scratch?: { readonly path: string; readonly use: 'shared' | 'private' };
  /** `state`: the machine waits for a state instead of booting. */
  readonly start?: 'boot' | 'state';
}

/** Memory of the kernel's text, its tables and the agent. */
export const KERNEL_MEMORY_MB = 64;

/** Limit of translated code in an emulator; its default would be a gibibyte. */
export const TRANSLATED_MB = 192;

const SANDBOX = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny';

/** The program for this processor: a guest has the architecture of its host. */
export function qemuProgram(arch: NodeJS.Architecture = process.arch): string {
  return arch === 'arm64' ? 'qemu-system-aarch64' : 'qemu-system-x86_64';
}

/** Machine kinds in the order in which they are tried. */
export function machineKinds(arch: NodeJS.Architecture = process.arch): readonly MachineKind[] {
  return arch === 'arm64' ? ['virt'] : ['microvm', 'q35'];
}

export function qemuArguments(spec: MachineSpec): string[] {
  const { accelerator, machine, cpus, memoryMb, ingredients, start } = spec;
  return [
    ...[
      '-accel',
      accelerator === 'tcg' ? `tcg,tb-size=${TRANSLATED_MB}` : accelerator,
      '-cpu',
      cpuModel(accelerator, machine),
      '-smp',
      String(cpus),
    ],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-sandbox', SANDBOX],
    ...memoryArguments(spec),
    ...[
      '-kernel',
      ingredients.kernel,
      '-initrd',
      ingredients.initramfs,
      '-append',
      kernelLine({ accelerator, memoryMb }),
    ],
    ...['-chardev', 'stdio,id=console,signal=off', '-serial', 'chardev:console'],
    ...['-chardev', 'socket,id=qmp,fd=4', '-mon', 'chardev=qmp,mode=control'],
    ...['-device', device('virtio-serial', machine)],
    ...['-chardev', 'socket,id=agent,fd=3', '-device', 'virtserialport,chardev=agent,name=agent'],
    ...diskArguments(spec),
    ...(start === 'state' ? ['-incoming', 'defer'] : []),
  ];
}

function memoryArguments({ machine, memoryMb, memory }: MachineSpec): string[] {
  const size = `${memoryMb + KERNEL_MEMORY_MB}M`;
  if (!memory) return ['-M', machineModel(machine), '-m', size];
  const backend = {
    'qom-type': 'memory-backend-file',
    id: 'ram',
    size: (memoryMb + KERNEL_MEMORY_MB) * 2 ** 20,
    'mem-path': memory.path,
    share: memory.use === 'shared',
    // The file is opened read-only; the machine can still write to its private mapping.
    ...(memory.isReadOnly && { readonly: true, rom: 'off' }),
  };
  return ['-M', `${machineModel(machine)},memory-backend=ram`, '-m', size, '-object', JSON.stringify(backend)];
}

/** The agent identifies its disks by serial number. */
function diskArguments({ machine, ingredients, scratch }: MachineSpec): string[] {
  const root = { driver: 'file', filename: ingredients.root, 'node-name': 'root', 'read-only': true, locking: 'off' };
  const disk = [
    '-blockdev',
    JSON.stringify(root),
    '-device',
    `${device('virtio-blk', machine)},drive=root,serial=root`,
  ];
  if (!scratch) return disk;

  const file = `file=${scratch.path.replaceAll(',', ',,')},file.locking=off`;
  const drive = `if=none,id=scratch,${file},format=raw,cache=unsafe,snapshot=${scratch.use === 'private' ? 'on' : 'off'}`;
  return [...disk, '-drive', drive, '-device', `${device('virtio-blk', machine)},drive=scratch,serial=scratch`];
}

function machineModel(machine: MachineKind): string {
  return machine === 'microvm' ? 'microvm,isa-serial=on' : machine;
}

function device(name: string, machine: MachineKind): string {
  return `${name}-${machine === 'q35' ? 'pci' : 'device'}`;
}

/**
 * Chooses, among the emulated models, the one on which the kernel starts fastest; without rdrand the first random bytes
 * take a second.
 */
function cpuModel(accelerator: Accelerator, machine: MachineKind): string {
  if (accelerator === 'whpx') return 'max';
  // A host that is a guest itself may lack that register, and QEMU exits then.
  if (accelerator === 'kvm' && machine !== 'virt') return 'host,-arch-capabilities';
  if (accelerator !== 'tcg') return 'host';
  return machine === 'virt' ? 'max' : 'Nehalem-v1,+rdrand';
}

/**
 * Starts QEMU with the files of one machine, in its jail and within its limits.
 *
 * In the jail every file has a fixed name, so a saved state contains no path of the host.
 */
import { existsSync } from 'node:fs';

import type { LimitGroup, Limiter } from '../../limits/limits.ts';
import type { Accelerator } from './accelerators.ts';
import { KERNEL_MEMORY_MB, qemuArguments, TRANSLATED_MB, type MachineKind } from './arguments.ts';
import type { Ingredients } from './files/ingredients.ts';
import type { Bind } from './bwrap-arguments.ts';
import { QemuProcess } from './qemu-process.ts';
import type { QemuPrograms } from './qemu-programs.ts';

/** QEMU's own memory beside that of its guest; an emulator keeps translated code. */
const OVERHEAD_MB: Record<Accelerator, number> = { kvm: 96, hvf: 96, whpx: 96, tcg: 96 + TRANSLATED_MB };

/** Threads of QEMU, beside those of the processors. */
const MAX_THREADS = 64;

const NAMES = {
  kernel: '/kernel',
  initramfs: '/initramfs',
  root: '/root-image',
  memory: '/memory',
  scratch: '/scratch',
  library: '/ram-readonly.so',
} as const;

/** Shared by all machines of a backend. */
export interface QemuHost {
  readonly programs: QemuPrograms;
  readonly accelerator: Accelerator;
  readonly limiter: Limiter;
  /** The program that delays QEMU until it may start; absent without a jail. */
  readonly gate: string | undefined;
  /** The library that lets QEMU map read-only memory, if it needs one. */
  readonly library: string | undefined;
}

export interface Size {
  readonly cpus: number;
  readonly memoryMb: number;
  readonly diskMb: number;
}

interface Backing {
  readonly path: string;
  /** Shared: the machine's writes go to the file. Private: they stay in the machine. */
  readonly use: 'shared' | 'private';
}

export interface MachineStart {
  readonly id: string;
  readonly machine: MachineKind;
  readonly size: Size;
  readonly ingredients: Ingredients;
  /** Backing file; without it the memory has no file. */
  readonly memory?: Backing | undefined;
  readonly scratch?: Backing | undefined;
  /** A descriptor of the state to continue from; without one it boots. */
  readonly stateFd?: number | undefined;
  readonly moreBinds?: readonly Bind[];
}

export interface StartedQemu {
  readonly process: QemuProcess;
  readonly group: LimitGroup;
}

/** Size of the file behind a machine's memory. */
export function memoryBytes({ memoryMb }: Size): number {
  return (memoryMb + KERNEL_MEMORY_MB) * 2 ** 20;
}

export async function startQemu(host: QemuHost, start: MachineStart): Promise<StartedQemu> {
  const { programs, accelerator, limiter, gate, library } = host;
  const { cpus, memoryMb, diskMb } = start.size;
  const group = limiter.make(start.id, {
    cpus,
    memoryMb: memoryMb + KERNEL_MEMORY_MB + OVERHEAD_MB[accelerator],
    diskMb,
    maxProcesses: cpus + MAX_THREADS,
  });
  try {
    const process = await QemuProcess.start({
      programs,
      gate,
      group,
      stateFd: start.stateFd,
      args: machineArguments(host, start),
      binds: bindsOf(host, start),
      preload: start.memory?.use === 'private' && library !== undefined ? NAMES.library : undefined,
    });
    return { process, group };
  } catch (error) {
    await group.release();
    throw error;
  }
}

/** Arguments for QEMU; for two machines that may share a state only the backing of memory and disk differs. */
export function machineArguments({ accelerator, programs }: QemuHost, start: MachineStart): string[] {
  const { machine, size, ingredients, memory, scratch } = start;
  // Outside of a jail, paths are those of the host.
  const at = (name: keyof typeof NAMES, path: string) => (programs.bwrap === undefined ? path : NAMES[name]);
  return qemuArguments({
    accelerator,
    machine,
    cpus: size.cpus,
    memoryMb: size.memoryMb,
    ingredients: {
      kernel: at('kernel', ingredients.kernel),
      initramfs: at('initramfs', ingredients.initramfs),
      root: at('root', ingredients.root),
    },
    ...(memory && {
      memory: {
        path: at('memory', memory.path),
        use: memory.use,
        isReadOnly: memory.use === 'private' && programs.mapsReadOnly,
      },
    }),
    ...(scratch && { scratch: { path: at('scratch', scratch.path), use: scratch.use } }),
    start: start.stateFd === undefined ? 'boot' : 'state',
  });
}

function bindsOf({ library, accelerator }: QemuHost, start: MachineStart): Bind[] {
  const { ingredients, memory, scratch, moreBinds = [] } = start;
  const binds: Bind[] = [
    { from: ingredients.kernel, at: NAMES.kernel, access: 'read' },
    { from: ingredients.initramfs, at: NAMES.initramfs, access: 'read' },
    { from: ingredients.root, at: NAMES.root, access: 'read' },
    ...moreBinds,
  ];
  if (memory) binds.push({ from: memory.path, at: NAMES.memory, access: accessFor(memory) });
  if (scratch) binds.push({ from: scratch.path, at: NAMES.scratch, access: accessFor(scratch) });
  if (library !== undefined) binds.push({ from: library, at: NAMES.library, access: 'read' });
  if (accelerator === 'kvm' && existsSync('/dev/kvm')) {
    binds.push({ from: '/dev/kvm', at: '/dev/kvm', access: 'device' });
  }
  return binds;
}

function accessFor({ use }: Backing): Bind['access'] {
  return use === 'shared' ? 'write' : 'read';
}

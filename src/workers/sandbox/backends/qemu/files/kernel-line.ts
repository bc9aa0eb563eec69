/**
 * The kernel command line of a machine.
 *
 * An emulated x86 processor has no clock to calibrate another by: on a busy host calibration fails and the boot hangs.
 * So the kernel is given the frequency of the host's TSC, which the guest sees.
 */
import { readFileSync } from 'node:fs';

import type { Accelerator } from '../accelerators.ts';

/** Ticks per second of Debian's kernel. */
const KERNEL_HZ = 250;

const ALWAYS = [
  'quiet',
  'loglevel=3',
  // A kernel panic ends the machine.
  'panic=-1',
  'reboot=t',
  'cryptomgr.notests',
  'random.trust_cpu=on',
  '8250.nr_uarts=1',
  'i8042.noaux',
  'i8042.nokbd',
  'i8042.nopnp',
  'apparmor=0',
  'audit=0',
  'nowatchdog',
  'rcupdate.rcu_expedited=1',
];

export interface KernelLineOptions {
  readonly accelerator: Accelerator;
  /** Limit for programs, enforced by the agent. */
  readonly memoryMb: number;
  readonly arch?: NodeJS.Architecture;
  /** The text of /proc/cpuinfo. */
  readonly cpuInfo?: string;
}

export function kernelLine({ accelerator, memoryMb, arch = process.arch, cpuInfo }: KernelLineOptions): string {
  const console = arch === 'arm64' ? 'console=ttyAMA0' : 'console=ttyS0';
  const isEmulatedX86 = accelerator === 'tcg' && arch === 'x64';
  const memory = `memory_mb=${memoryMb}`;
  return [console, memory, ...ALWAYS, ...(isEmulatedX86 ? emulatedX86(cpuInfo ?? ownCpuInfo()) : [])].join(' ');
}

/** On an unknown processor the kernel calibrates by itself. */
function emulatedX86(cpuInfo: string): string[] {
  // An emulated processor lacks the holes that these close, and has no secret to hide from the guest.
  const words = ['tsc=reliable', 'no_timer_check', 'nokaslr', 'mitigations=off'];
  const bogomips = Number(/^bogomips\s*:\s*([\d.]+)/m.exec(cpuInfo)?.[1] ?? 0);
  if (bogomips === 0) return words;
  const tscKhz = Math.round(bogomips * 500);
  const loopsPerTick = Math.round((bogomips * 500_000) / KERNEL_HZ);
  return [...words, `tsc_early_khz=${tscKhz}`, `lpj=${loopsPerTick}`];
}

function ownCpuInfo(): string {
  return process.platform === 'linux' ? readFileSync('/proc/cpuinfo', 'utf8') : '';
}

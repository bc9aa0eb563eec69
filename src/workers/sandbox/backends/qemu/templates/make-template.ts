/**
 * Boots a machine and keeps it as a template.
 *
 * An emulated kernel may hang while it calibrates its clocks, so a boot has a deadline, and is retried on the machine
 * kind that hangs least often.
 */
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, rmSync, truncateSync } from 'node:fs';

import { AgentClient } from '#sandbox/guest';
import { warmUp } from '../../warm-up.ts';
import { withDeadline } from '../../with-deadline.ts';
import { machineKinds, type MachineKind } from '../arguments.ts';
import type { Ingredients } from '../files/ingredients.ts';
import { saveMachine, SharedMemoryRefused } from './save-machine.ts';
import { makeScratchDisk } from '../files/scratch-disk.ts';
import { memoryBytes, startQemu, type QemuHost, type Size } from '../start-qemu.ts';
import { StateSink } from './state-sink.ts';
import { Template, type RamMode } from './template.ts';

/** Saving takes milliseconds with a memory file; without one all memory is copied. */
const SAVE_MS = 60_000;
const WARM_UP_MS = 60_000;

export interface TemplateSpec {
  readonly size: Size;
  readonly ingredients: Ingredients;
  readonly ram: RamMode;
  /** Boot timeout. */
  readonly bootMs: number;
  /** Tried one after another until one boots. */
  readonly machines?: readonly MachineKind[];
}

/**
 * Writes it to `dir`, which is created. Throws `SharedMemoryRefused` if this QEMU can only save the memory in the
 * state.
 */
export async function makeTemplate(
  host: QemuHost,
  spec: TemplateSpec,
  { dir, signal }: { dir: string; signal: AbortSignal },
): Promise<void> {
  const problems: string[] = [];
  for (const machine of spec.machines ?? twoTries()) {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { mode: 0o700 });
    const template = new Template(dir, { machine, ram: spec.ram });
    try {
      await bootInto(template, { host, spec, signal });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SharedMemoryRefused) throw error;
      problems.push(`${machine}: ${(error as Error).message}`);
    }
  }
  throw new Error(`no machine boots: ${problems.join('; ')}`);
}

function twoTries(): MachineKind[] {
  const kinds = machineKinds();
  return [kinds[0]!, kinds.at(-1)!];
}

interface Boot {
  readonly host: QemuHost;
  readonly spec: TemplateSpec;
  readonly signal: AbortSignal;
}

async function bootInto(template: Template, { host, spec, signal }: Boot): Promise<void> {
  const { memory, scratch, state, facts } = template;
  const { size, ingredients } = spec;
  makeScratchDisk(scratch, size);
  if (memory !== undefined) makeSparse(memory, memoryBytes(size));
  await using sink = await StateSink.open(state);

  const { process: qemu, group } = await startQemu(host, {
    id: `template-${process.pid}-${Date.now()}`,
    machine: facts.machine,
    size,
    ingredients,
    memory: memory === undefined ? undefined : { path: memory, use: 'shared' },
    scratch: { path: scratch, use: 'shared' },
    moreBinds: [sink.bind],
  });
  try {
    const agent = await AgentClient.open(qemu.channel, { deadlineMs: spec.bootMs, signal });
    await warmUp(agent, { timeoutMs: WARM_UP_MS, signal });
    await withDeadline(
      SAVE_MS,
      saveMachine(qemu.qmp, { uri: sink.uri(host.programs.bwrap !== undefined), ram: facts.ram }),
    );
    await withDeadline(SAVE_MS, sink.received());
  } catch (error) {
    await qemu.kill();
    if (error instanceof SharedMemoryRefused) throw error;
    throw new Error([(error as Error).message, qemu.tail].filter(Boolean).join(': '), { cause: error });
  } finally {
    await qemu.kill();
    await group.release();
  }
  // fsync, so that after a crash of the host a template is complete or missing.
  for (const path of template.files) seal(path);
  template.finish();
}

function makeSparse(path: string, bytes: number): void {
  closeSync(openSync(path, 'w', 0o600));
  truncateSync(path, bytes);
}

function seal(path: string): void {
  chmodSync(path, 0o400);
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * The backend of virtual machines: QEMU with an accelerator, or with only its emulator.
 *
 * The first machine of an image and size boots, and is kept as a template. All others are clones of it, so they are
 * ready as soon as QEMU has started.
 */
import { cpus } from 'node:os';
import { join } from 'node:path';

import { silentLog, type Log } from '#contract';
import { AgentClient, buildProgram, sourcePath } from '#sandbox/guest';
import type { ImageProgress } from '#sandbox/images';
import type { Isolation } from '../../isolation.ts';
import { openLimiter } from '../../limits/limits.ts';
import type { ImageReference, Instance, Probe, SandboxBackend, Shape } from '../backend.ts';
import { emptyImage } from '../empty-image.ts';
import { missingFor } from '../needs.ts';
import { rememberSuccess } from '../remember-success.ts';
import { wantedMachine } from '../dispose-if-aborted.ts';
import { BOOT_MS, isolationOf, whyNoKvm, whyNotHere, type Accelerator } from './accelerators.ts';
import { machineKinds } from './arguments.ts';
import facts from './backend.json' with { type: 'json' };
import { isStillThere, prepareIngredients, type Ingredients } from './files/ingredients.ts';
import { makeTemplate } from './templates/make-template.ts';
import { QemuMachine } from './qemu-machine.ts';
import { openPrograms, programsFingerprint } from './qemu-programs.ts';
import { SharedMemoryRefused } from './templates/save-machine.ts';
import { machineArguments, startQemu, type QemuHost, type Size } from './start-qemu.ts';
import { templateKey } from './templates/template-key.ts';
import { TemplateStore } from './templates/template-store.ts';
import type { RamMode, Template } from './templates/template.ts';

const PROBE_SIZE: Size = { cpus: 1, memoryMb: 128, diskMb: 16 };

interface Made {
  readonly template: Template;
  readonly ingredients: Ingredients;
}

export interface QemuBackendOptions {
  readonly cacheDir: string;
  readonly accelerator: Accelerator;
  readonly log?: Log;
  /** How templates store their memory; changed when QEMU refuses it. */
  readonly ram?: RamMode;
}

export class QemuBackend implements SandboxBackend {
  readonly name = 'qemu';
  readonly rung: string;
  readonly isolation: Isolation;
  readonly #accelerator: Accelerator;
  readonly #cacheDir: string;
  readonly #log: Log;
  readonly #limiter = openLimiter();
  readonly #templates: TemplateStore;
  /** Templates and their ingredients, by image and size. */
  readonly #made = new Map<string, Made>();
  #ram: RamMode;
  readonly #ready = rememberSuccess(() => this.#open());

  constructor(options: QemuBackendOptions) {
    const { cacheDir, accelerator, log = silentLog, ram = 'file' } = options;
    this.rung = `qemu+${accelerator}`;
    this.isolation = isolationOf(accelerator);
    this.#accelerator = accelerator;
    this.#cacheDir = cacheDir;
    this.#log = log;
    this.#ram = ram;
    this.#templates = new TemplateStore(cacheDir);
  }

  fingerprint = programsFingerprint;
  sweep = () => this.#limiter.sweep();
  async close(): Promise<void> {}

  async prepare(shape: Shape, signal: AbortSignal): Promise<void> {
    await this.#prepared(shape, signal);
  }

  async create(shape: Shape, { id, signal }: { id: string; signal: AbortSignal }): Promise<Instance> {
    const { template, ingredients } = await this.#prepared(shape, signal);
    this.#templates.use(template);
    const machine = await QemuMachine.clone(await this.#ready(), template, { id, ingredients, size: sizeOf(shape) });
    return wantedMachine(machine, signal);
  }

  async #prepared(shape: Shape, signal: AbortSignal): Promise<Made> {
    const name = JSON.stringify([shape.image.digest, sizeOf(shape), this.#ram]);
    const found = this.#made.get(name);
    if (found && this.#templates.has(found.template) && isStillThere(found.ingredients)) return found;

    const ingredients = await this.#ingredientsOf(shape.image, signal);
    const made = { ingredients, template: await this.#template(shape, ingredients, signal) };
    this.#made.set(name, made);
    return made;
  }

  async #template(shape: Shape, ingredients: Ingredients, signal: AbortSignal): Promise<Template> {
    try {
      return await this.#templateIn(this.#ram, shape, ingredients, signal);
    } catch (error) {
      if (!(error instanceof SharedMemoryRefused)) throw error;
      this.#log.warn('this QEMU copies the memory of templates; machines start slower', { backend: this.rung });
      this.#ram = 'stream';
      return this.#templateIn('stream', shape, ingredients, signal);
    }
  }

  async #templateIn(ram: RamMode, shape: Shape, ingredients: Ingredients, signal: AbortSignal): Promise<Template> {
    const host = await this.#ready();
    const size = sizeOf(shape);
    const key = templateKey({
      digest: ingredients.digest,
      qemuVersion: host.programs.version,
      accelerator: this.#accelerator,
      processor: cpus()[0]?.model ?? '',
      args: machineArguments(host, { id: '', machine: machineKinds()[0]!, size, ingredients }),
      diskMb: size.diskMb,
      ram,
    });
    const spec = { size, ingredients, ram, bootMs: BOOT_MS[this.#accelerator] };
    return this.#templates.get(key, { signal }, async (dir, wanted) => {
      const startedAt = performance.now();
      await makeTemplate(host, spec, { dir, signal: wanted });
      const tookMs = Math.round(performance.now() - startedAt);
      this.#log.info('a template of a machine was made', { image: shape.image.name, backend: this.rung, tookMs });
    });
  }

  /** Boots a machine on an empty root and waits for its agent. */
  async probe(signal: AbortSignal): Promise<Probe> {
    const no = (reason: string, stderrTail = ''): Probe => ({ ok: false, reason, stderrTail });
    const why = whyNotHere(this.#accelerator) ?? (this.#accelerator === 'kvm' ? whyNoKvm() : undefined);
    if (why !== undefined) return no(why);
    const missing = missingFor(facts).map((need) => need.package);
    if (missing.length > 0) return no(`not installed: ${missing.join(', ')}`);

    try {
      const host = await this.#ready();
      const ingredients = await this.#ingredientsOf(emptyImage(this.#cacheDir), signal);
      return await this.#boot(host, ingredients, signal);
    } catch (error) {
      signal.throwIfAborted();
      return no((error as Error).message);
    }
  }

  async #boot(host: QemuHost, ingredients: Ingredients, signal: AbortSignal): Promise<Probe> {
    const started = await startQemu(host, {
      id: `probe-${this.#accelerator}-${process.pid}`,
      machine: machineKinds()[0]!,
      size: PROBE_SIZE,
      ingredients,
    });
    const machine = new QemuMachine(started, 'probe');
    try {
      await AgentClient.open(machine.channel, { deadlineMs: BOOT_MS[this.#accelerator], signal });
      const limits = this.#limiter.kind === 'watchdog' ? 'the machine alone' : this.#limiter.kind;
      const detail = `${host.programs.version}, limits by ${limits}`;
      return { ok: true, detail };
    } catch (error) {
      signal.throwIfAborted();
      await machine.kill();
      const { stderrTail } = await machine.exited;
      const reason = [`no machine boots: ${(error as Error).message}`, lastLine(stderrTail)].filter(Boolean).join(': ');
      return { ok: false, reason, stderrTail };
    } finally {
      await machine.kill();
      await machine.dispose();
    }
  }

  async #ingredientsOf(image: ImageReference, signal: AbortSignal): Promise<Ingredients> {
    const onProgress = ({ phase, image: what }: ImageProgress) => {
      this.#log.debug('a machine is prepared', { what, phase });
    };
    return prepareIngredients(image, { cacheDir: this.#cacheDir, signal, onProgress });
  }

  async #open(): Promise<QemuHost> {
    const programs = await openPrograms();
    const isJailed = programs.bwrap !== undefined;
    return {
      programs,
      accelerator: this.#accelerator,
      limiter: this.#limiter,
      gate: isJailed ? await this.#build('start-gate', 'program') : undefined,
      library: isJailed && !programs.mapsReadOnly ? await this.#build('ram-readonly', 'library') : undefined,
    };
  }

  async #build(name: string, kind: 'program' | 'library'): Promise<string> {
    const sources = [sourcePath(`${name}.c`, import.meta.url)];
    return buildProgram({ name, sources, cacheDir: join(this.#cacheDir, 'programs'), kind });
  }
}

function sizeOf({ cpus, memoryMb, diskMb }: Shape): Size {
  return { cpus, memoryMb, diskMb };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

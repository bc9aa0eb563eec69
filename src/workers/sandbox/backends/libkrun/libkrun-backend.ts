/**
 * The backend of libkrun: virtual machines on the processor's own virtualisation, for hosts without QEMU.
 *
 * It is written against the documented interface of microsandbox and tested with a stand-in; the machines that check
 * this project cannot start one. See docs/guides/isolation.md.
 */
import { join } from 'node:path';

import { isAlive, OWN_MARK } from '#host';
import { AgentClient } from '../../guest/agent-client.ts';
import { buildAgent } from '../../guest/build-agent.ts';
import { SharedWork } from '../../images/shared-work.ts';
import type { Instance, Probe, SandboxBackend, Shape } from '../backend.ts';
import { emptyImage } from '../empty-image.ts';
import { hostnameOf } from '../launcher/launcher.ts';
import { withImageArchive } from './image-archive.ts';
import { LibkrunMachine } from './libkrun-machine.ts';
import { findMicrosandbox, loadMicrosandbox, type KrunMachine, type Microsandbox } from './microsandbox.ts';

/** Where the agent lies in a machine. */
const AGENT = '/.workcell-agent';

/** A first boot writes the image into the store of microsandbox. */
const PROBE_MS = 20_000;

/** Our machines among others of the same user: `workcell-<process>-<id>`. */
const NAME = /^workcell-(\d+-\d+)-/;

interface LibkrunOptions {
  cacheDir: string;
  /** Stand-ins for the package. */
  find?: () => string;
  load?: () => Promise<Microsandbox>;
}

export class LibkrunBackend implements SandboxBackend {
  readonly name = 'libkrun';
  readonly rung = 'libkrun';
  readonly #cacheDir: string;
  readonly #find: () => string;
  readonly #load: () => Promise<Microsandbox>;
  readonly #loading = new SharedWork<void, never>();
  readonly #loaded = new Set<string>();

  constructor({ cacheDir, find = findMicrosandbox, load = loadMicrosandbox }: LibkrunOptions) {
    this.#cacheDir = cacheDir;
    this.#find = find;
    this.#load = load;
  }

  fingerprint(): string {
    return this.#find();
  }

  async probe(signal: AbortSignal): Promise<Probe> {
    const no = (reason: string): Probe => ({ ok: false, reason, stderrTail: '' });
    if (this.#find() === '') return no('the package microsandbox is not installed: npm install microsandbox');
    try {
      const microsandbox = await this.#load();
      if (!microsandbox.isInstalled()) return no('microsandbox lacks its programs: npx microsandbox install');
      await this.#tryMachine(signal);
      return { ok: true, isolation: 'hardware-vm', detail: 'microsandbox' };
    } catch (error) {
      return no((error as Error).message);
    }
  }

  /** Gives the image to microsandbox, once for each content. */
  async prepare({ image }: Pick<Shape, 'image'>, signal: AbortSignal): Promise<void> {
    const tag = tagOf(image.digest);
    if (this.#loaded.has(tag)) return;
    await this.#loading.do(tag, { signal }, async (all) => {
      const { Image } = await this.#load();
      const options = { folder: join(this.#cacheDir, 'libkrun'), tag, signal: all };
      await withImageArchive(image, options, (archive) => Image.load(archive, { tag }));
      this.#loaded.add(tag);
    });
  }

  /** No interface in any case: what a sandbox may reach goes through its agent. */
  async create(shape: Shape, { id, signal }: { id: string; signal: AbortSignal }): Promise<Instance> {
    const { Sandbox } = await this.#load();
    const agent = await buildAgent(join(this.#cacheDir, 'programs'));
    const making = Sandbox.builder(`workcell-${OWN_MARK}-${id}`)
      .image(tagOf(shape.image.digest))
      .pullPolicy('never')
      .cpus(shape.cpus)
      .memory(shape.memoryMb)
      .rootDisk(shape.diskMb)
      .hostname(hostnameOf(id))
      .disableNetwork()
      .ephemeral(true)
      .patch((patches) => patches.copyFile(agent, AGENT, { mode: 0o755 }))
      .create();
    const machine = await unlessAborted(making, signal);
    try {
      return await LibkrunMachine.start(machine, AGENT);
    } catch (error) {
      await machine.destroy({ force: true });
      throw error;
    }
  }

  async sweep(): Promise<void> {
    if (this.#find() === '') return;
    const { Sandbox } = await this.#load();
    for (const machine of (await Sandbox.list()).sandboxes) {
      const owner = NAME.exec(machine.name)?.[1];
      if (owner !== undefined && !isAlive(owner)) await machine.destroy({ force: true });
    }
  }

  async close(): Promise<void> {}

  /** Boots an empty root and has the agent answer. */
  async #tryMachine(signal: AbortSignal): Promise<void> {
    const shape = { image: emptyImage(this.#cacheDir), cpus: 1, memoryMb: 128, diskMb: 64 };
    const both = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]);
    await this.prepare(shape, both);
    const machine = await this.create(shape, { id: 'probe', signal: both });
    try {
      (await AgentClient.open(machine.channel, { deadlineMs: PROBE_MS, signal: both })).close();
    } finally {
      await machine.kill();
      await machine.dispose();
    }
  }
}

/**
 * Booting cannot be interrupted: who does not wait for the machine leaves it to be destroyed when it comes. One that
 * cannot be has nobody left to tell, and is for the sweep of a later process.
 */
async function unlessAborted(making: Promise<KrunMachine>, signal: AbortSignal): Promise<KrunMachine> {
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  try {
    return await Promise.race([left, making]);
  } catch (error) {
    void making.then((machine) => machine.destroy({ force: true })).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function tagOf(digest: string): string {
  return `workcell/${digest.replaceAll(/[^a-z0-9]+/g, '-')}:latest`;
}

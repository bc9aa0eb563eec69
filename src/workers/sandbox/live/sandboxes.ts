/**
 * The running sandboxes: creates them within the limits, finds them, stops them on request or when idle.
 *
 * A slot is taken before anything slow happens, so parallel calls cannot exceed a limit.
 */
import { randomUUID } from 'node:crypto';

import { Failure, Watched, type Fleet, type Log } from '#contract';
import { EgressProxy, proxyEnv, PROXY_PORT, type EgressPolicy } from '#egress';
import { Jobs } from '#job-functions';
import type { Caller } from '#protocol';
import { AgentClient, guestFileSystem } from '#sandbox/guest';
import type { Ending, Instance, Shape } from '../backends/backend.ts';
import type { ChosenBackend } from '../choose-backend.ts';
import { MAX_OUTPUT_BYTES } from '../commands/guest-command.ts';
import type { SandboxConfig } from '../config.ts';
import { authorityEnv, offerAuthority, readAuthority } from '../egress/index.ts';
import { mergeEnv, readImageEnv, type Env } from '../environment.ts';
import { errors } from '../errors.ts';
import { requireOpenHost } from '../fleet/open-host.ts';
import { taggedId } from '../fleet/sandbox-tag.ts';
import { HostShare } from '../limits/host-share.ts';
import { newOomKills } from './limit-watch.ts';
import { LiveSandbox } from './live-sandbox.ts';
import { parseSandboxId } from './sandbox-id.ts';
import { readUser } from '../image-user.ts';

/** Timeout for the agent's answer after a machine has started. */
const AGENT_DEADLINE_MS = 30_000;

/** Interval of the check for idle sandboxes. */
const REAP_EVERY_MS = 1_000;

/** Interval at which the age and the use of every sandbox count as changed. */
const AGED_EVERY_MS = 5_000;

/** Ended sandboxes, remembered so that a late call gets the reason. */
const REMEMBERED = 256;

/** Why a sandbox ended: by a call, idle for too long, out of memory, its machine ended, or with the worker. */
export type Why = 'asked' | 'idle' | 'oom' | 'died' | 'server';

export interface NewSandbox {
  readonly name: string | null;
  readonly caller?: Caller | undefined;
  readonly shape: Shape;
  readonly idleTimeoutMs: number;
  readonly env: Env;
  /** Allowed hosts; no network when absent. */
  readonly egress?: EgressPolicy;
  /** Called once, when the sandbox has ended completely or was never made. */
  readonly onGone: () => void;
}

export class Sandboxes {
  /** Gets the ids of sandboxes that started, changed or ended, and the events of each. */
  readonly watched = new Watched();
  /** The jobs of all sandboxes, grouped by the id of the sandbox. */
  readonly jobs: Jobs;
  /** The share of the host that running and starting sandboxes use. */
  readonly share: HostShare;
  readonly #config: SandboxConfig;
  readonly #log: Log;
  /** Machines of the cluster; undefined without one. */
  readonly #fleet: Fleet | undefined;
  /** Certificate authority of the operator's network, in PEM. */
  readonly #authority: string | undefined;
  readonly #living = new Map<string, LiveSandbox>();
  readonly #ended = new Map<string, string>();
  readonly #stopping = new Set<Promise<void>>();
  readonly #timers: NodeJS.Timeout[];
  #starting = 0;

  constructor(config: SandboxConfig, log: Log, fleet?: Fleet) {
    this.#config = config;
    this.#log = log;
    this.#fleet = fleet;
    this.share = new HostShare(config);
    this.jobs = new Jobs(
      {
        maxConcurrentJobs: config.max_jobs_per_sandbox,
        retentionSecs: config.job_retention_secs,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        makeUuid: fleet && (() => taggedId(fleet.self.id)),
        beforeEnd: ({ group }) => this.reportOom(this.#living.get(group!)),
      },
      log,
      this.watched,
    );
    const { ca_file: file } = config.egress;
    this.#authority = file === undefined ? undefined : readAuthority(file);
    this.#timers = [
      setInterval(() => this.#reap(), REAP_EVERY_MS).unref(),
      setInterval(() => this.#age(), AGED_EVERY_MS).unref(),
    ];
  }

  /** Sandboxes in the order of their creation. */
  get all(): LiveSandbox[] {
    return [...this.#living.values()];
  }

  /** How many are being created. */
  get starting(): number {
    return this.#starting;
  }

  /** How many are being removed. */
  get stopping(): number {
    return this.#stopping.size;
  }

  /** Reserves a slot while the work creates a sandbox. */
  async withSlot<T>(work: () => Promise<T>): Promise<T> {
    if (this.#fleet) requireOpenHost(this.#fleet, this.#starting, this.#config);
    const limit = this.#config.max_concurrent_sandboxes;
    if (this.#living.size + this.#starting >= limit) {
      throw errors.fail('S400', { problem: `${limit} sandboxes live already (max_concurrent_sandboxes)` });
    }
    this.#starting++;
    try {
      return await work();
    } finally {
      this.#starting--;
    }
  }

  /** Starts a machine and waits until it can run a command. */
  async start(chosen: ChosenBackend, wanted: NewSandbox, signal: AbortSignal): Promise<LiveSandbox> {
    const { shape, name, caller, idleTimeoutMs } = wanted;
    const { image } = shape;
    const id = this.#fleet ? taggedId(this.#fleet.self.id) : randomUUID();
    let instance: Instance | undefined;
    try {
      const user = await readUser(image);
      instance = await this.#boot(chosen, shape, { id, signal });
      const agent =
        instance.agent ?? (await AgentClient.open(instance.channel, { deadlineMs: AGENT_DEADLINE_MS, signal }));
      await instance.personalize?.(agent);
      const egress = wanted.egress && (await this.#openEgress(agent, wanted.egress, id));
      if (egress && this.#authority) await offerAuthority(guestFileSystem(agent), this.#authority, signal);
      // Stops here, because the caller would never get the id to stop the sandbox.
      signal.throwIfAborted();
      const facts = {
        id,
        name,
        caller,
        shape,
        idleTimeoutMs,
        isolation: chosen.backend.isolation,
        rung: chosen.backend.rung,
        env: mergeEnv([['HOME', user.home]], readImageEnv(image.env), egress ? this.#networkEnv() : [], wanted.env),
        workdir: image.workdir ?? '/',
        user,
        maxExecs: Math.max(1, this.#config.max_concurrent_exec_per_sandbox),
        searchTimeoutMs: this.#config.search_timeout_ms,
      };
      const onChanged = () => this.watched.changed(id);
      const sandbox = new LiveSandbox(facts, { instance, agent, egress, onChanged, onGone: wanted.onGone }, Date.now());
      this.#living.set(id, sandbox);
      this.watched.changed(id);
      this.watched.happened('sandbox_created', { sandbox_id: id, name, image: image.name });
      void instance.exited.then((ending) => this.#notice(sandbox, ending));
      return sandbox;
    } catch (error) {
      const stderrTail = instance && (await takeDown(instance));
      wanted.onGone();
      if (instance && !signal.aborted) chosen.doubt();
      if (error instanceof Failure) throw error;
      throw errors.fail('S300', { problem: [(error as Error).message, stderrTail].filter(Boolean).join(': ') }, error);
    }
  }

  async #boot(chosen: ChosenBackend, shape: Shape, options: { id: string; signal: AbortSignal }): Promise<Instance> {
    try {
      await chosen.backend.prepare(shape, options.signal);
      return await chosen.backend.create(shape, options);
    } catch (error) {
      if (!options.signal.aborted) chosen.doubt();
      throw errors.fail('S300', { problem: (error as Error).message }, error);
    }
  }

  #networkEnv(): Env {
    return this.#authority ? [...proxyEnv, ...authorityEnv] : proxyEnv;
  }

  /** Passes connections to the proxy port inside to the proxy here. */
  async #openEgress(agent: AgentClient, policy: EgressPolicy, sandboxId: string): Promise<EgressProxy> {
    const egress = new EgressProxy({ policy, log: this.#log, sandboxId });
    const late = setTimeout(() => agent.close(), AGENT_DEADLINE_MS);
    try {
      await agent.listen(PROXY_PORT, (connection) => egress.take(connection));
      return egress;
    } finally {
      clearTimeout(late);
    }
  }

  find(sandboxId: string): LiveSandbox {
    const id = parseSandboxId(sandboxId);
    const sandbox = this.#living.get(id);
    if (sandbox) return sandbox;

    const ended = this.#ended.get(id);
    throw ended === undefined ? errors.fail('S002', { id }) : errors.fail('S004', { id, ended });
  }

  /** Removes it from the list at once; resolves when it has ended completely, with its jobs. */
  async stop(sandbox: LiveSandbox, ended: string, why: Why = 'asked'): Promise<void> {
    const { id } = sandbox.facts;
    if (!this.#living.delete(id)) return;
    this.watched.changed(id);
    this.#ended.set(id, ended);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > REMEMBERED) this.#ended.delete(oldest!);

    const stopping = this.#end(sandbox, { ended, why });
    this.#stopping.add(stopping);
    try {
      await stopping;
    } finally {
      this.#stopping.delete(stopping);
    }
  }

  async #end(sandbox: LiveSandbox, { ended, why }: { ended: string; why: Why }): Promise<void> {
    const { id } = sandbox.facts;
    const jobsEnded = this.jobs.endGroup(id);
    await sandbox.stop();
    await jobsEnded;
    this.watched.happened('stopped', { sandbox_id: id, why, reason: ended });
  }

  /** Reports kills for lack of memory that were not reported yet. */
  async reportOom(sandbox: LiveSandbox | undefined): Promise<void> {
    const kills = (sandbox && (await newOomKills(sandbox))) ?? 0;
    if (kills > 0) this.watched.happened('oom', { sandbox_id: sandbox!.facts.id, kills });
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([
      ...this.all.map((sandbox) => this.stop(sandbox, 'the worker stopped', 'server')),
      ...this.#stopping,
    ]);
  }

  /** Their age and their usage have changed. */
  #age(): void {
    for (const sandbox of this.all) {
      this.watched.changed(sandbox.facts.id);
      void this.reportOom(sandbox);
    }
  }

  #reap(): void {
    const now = Date.now();
    for (const sandbox of this.all) {
      const deadline = sandbox.idleDeadlineMs;
      if (deadline === undefined || now <= deadline) continue;

      const { id, idleTimeoutMs } = sandbox.facts;
      this.#log.info('a sandbox was idle and is stopped', { sandbox: id });
      this.#stopLater(sandbox, `it was stopped after ${idleTimeoutMs / 1000} s without a call`, 'idle');
    }
  }

  /** A machine that ended by itself ends its sandbox too. */
  #notice(sandbox: LiveSandbox, { stderrTail, isOutOfMemory }: Ending): void {
    const { id } = sandbox.facts;
    if (!this.#living.has(id)) return;
    this.#log.warn('the machine of a sandbox ended', { sandbox: id, stderr: stderrTail });
    this.#stopLater(sandbox, 'its machine ended', isOutOfMemory ? 'oom' : 'died');
  }

  #stopLater(sandbox: LiveSandbox, ended: string, why: Why): void {
    this.stop(sandbox, ended, why).catch((error: unknown) => {
      this.#log.error('a sandbox was not cleaned up', { sandbox: sandbox.facts.id, why: String(error) });
    });
  }
}

async function takeDown(instance: Instance): Promise<string> {
  await instance.kill();
  const { stderrTail } = await instance.exited;
  await instance.dispose();
  return stderrTail;
}

/**
 * One running sandbox: its machine, its agent, and its usage.
 *
 * Callers mark it as in use (`using`): the reaper stops only sandboxes that are unused and have been idle for a while.
 */
import type { EgressProxy } from '#egress';
import type { Caller } from '#protocol';
import type { FileSystem } from '#host';
import { type AgentClient, guestFileSystem } from '#sandbox/guest';
import type { Instance, Shape } from '../backends/backend.ts';
import type { Env } from '../environment.ts';
import { errors } from '../errors.ts';
import { inUseFileSystem } from '../in-use-file-system.ts';
import type { Isolation } from '../isolation.ts';

export interface SandboxFacts {
  readonly id: string;
  readonly name: string | null;
  /** The caller that created it. */
  readonly caller?: Caller | undefined;
  readonly shape: Shape;
  readonly isolation: Isolation;
  /** Its rung, such as `qemu+kvm`. */
  readonly rung: string;
  readonly idleTimeoutMs: number;
  /** Variables of the image and of the call that created it. */
  readonly env: Env;
  readonly workdir: string;
  readonly user: { uid: number; gid: number };
  readonly maxExecs: number;
  /** Time limit of a grep or a sed in its files. */
  readonly searchTimeoutMs: number;
}

export interface Machine {
  readonly instance: Instance;
  readonly agent: AgentClient;
  /** Its network access, if any. */
  readonly egress: EgressProxy | undefined;
  /** Called when something in it may have changed. */
  readonly onChanged: () => void;
  /** Called when the sandbox has ended completely. */
  readonly onGone: () => void;
}

export class LiveSandbox {
  readonly facts: SandboxFacts;
  readonly instance: Instance;
  readonly agent: AgentClient;
  readonly egress: EgressProxy | undefined;
  readonly files: FileSystem;
  readonly createdAtMs: number;
  /** Ends the running calls when it is stopped; undefined afterwards. */
  #endCalls: Set<() => void> | undefined = new Set();
  readonly #onChanged: () => void;
  readonly #onGone: () => void;
  #users = 0;
  #execs = 0;
  #lastUsedMs: number;
  /** Network bytes at the last check. */
  #seenBytes = 0;

  constructor(facts: SandboxFacts, { instance, agent, egress, onChanged, onGone }: Machine, nowMs: number) {
    this.facts = facts;
    this.instance = instance;
    this.agent = agent;
    this.egress = egress;
    this.#onChanged = onChanged;
    this.#onGone = onGone;
    this.files = inUseFileSystem(guestFileSystem(agent, facts), this);
    this.createdAtMs = nowMs;
    this.#lastUsedMs = nowMs;
  }

  get execsInFlight(): number {
    return this.#execs;
  }

  /** When it will have been idle for too long; undefined while it is in use. */
  get idleDeadlineMs(): number | undefined {
    this.#noticeTraffic();
    return this.#users > 0 ? undefined : this.#lastUsedMs + this.facts.idleTimeoutMs;
  }

  /** Start of its idle time; undefined while it is in use. */
  get idleSinceMs(): number | undefined {
    const deadlineMs = this.idleDeadlineMs;
    return deadlineMs === undefined ? undefined : deadlineMs - this.facts.idleTimeoutMs;
  }

  /** Network traffic since the last check counts as use at this moment. */
  #noticeTraffic(): void {
    const { sent, received } = this.egress?.log.bytes ?? { sent: 0, received: 0 };
    if (sent + received === this.#seenBytes) return;
    this.#seenBytes = sent + received;
    this.#lastUsedMs = Date.now();
  }

  /** Counts as use at this moment. */
  touch(): void {
    this.#lastUsedMs = Date.now();
  }

  /** Counts as use until it is released. */
  hold(): () => void {
    let isHolding = true;
    this.#users++;
    this.#lastUsedMs = Date.now();
    return () => {
      if (!isHolding) return;
      isHolding = false;
      this.#users--;
      this.#lastUsedMs = Date.now();
    };
  }

  /** Runs work in the sandbox. It counts as use from start to end, and fails at once when the sandbox is stopped. */
  async using<T>(work: () => Promise<T>): Promise<T> {
    const release = this.hold();
    let end = () => {};
    const stopped = new Promise<never>((_, reject) => {
      end = () => reject(errors.fail('S004', { id: this.facts.id }));
    });
    if (!this.#endCalls) end();
    this.#endCalls?.add(end);
    try {
      return await Promise.race([stopped, work()]);
    } finally {
      this.#endCalls?.delete(end);
      release();
    }
  }

  /** The same for work that may change something in it. */
  async changing<T>(work: () => Promise<T>): Promise<T> {
    this.#onChanged();
    return this.using(work).finally(this.#onChanged);
  }

  /** The same for a command; only a limited number run at once. */
  async executing<T>(work: () => Promise<T>): Promise<T> {
    const { id, maxExecs } = this.facts;
    if (this.#execs >= maxExecs) throw errors.fail('S003', { id, cap: maxExecs });
    this.#execs++;
    try {
      return await this.changing(work);
    } finally {
      this.#execs--;
    }
  }

  /** Kills the machine with everything in it, and resolves when all of it has ended. */
  async stop(): Promise<void> {
    const running = this.#endCalls;
    this.#endCalls = undefined;
    for (const end of running ?? []) end();
    this.egress?.close();
    this.agent.close();
    await this.instance.kill();
    await this.instance.exited;
    await this.instance.dispose();
    this.#onGone();
  }
}

/**
 * Requests of a sandbox and the decisions on them: counts, and the last decisions.
 *
 * The guest chooses the number and targets of its requests, so the server logs each host once, up to a limit.
 */
import type { Socket } from 'node:net';

import type { Log } from '#contract';

const KEPT_DECISIONS = 100;
const MOST_LINES = 100;
const MOST_TEXT = 260;
/** Hosts that the reply of one command lists. */
const MOST_REFUSED = 10;

export interface Decision {
  readonly atMs: number;
  readonly host: string;
  readonly port: number;
  readonly verdict: 'allowed' | 'refused' | 'failed';
  /** The deciding entry, or null. */
  readonly rule: string | null;
  readonly reason: string | null;
  bytesSent: number;
  bytesReceived: number;
}

export type NewDecision = Pick<Decision, 'host' | 'port' | 'verdict' | 'rule' | 'reason'>;

/** A host that a command was refused, and why. */
export interface RefusedTarget {
  readonly host: string;
  readonly reason: string;
}

/** Called with the host and its port. */
export type OnHost = (host: string, verdict: Decision['verdict']) => void;

export class EgressLog {
  readonly #onHost: OnHost | undefined;
  readonly #log: Log;
  readonly #sandboxId: string | undefined;
  readonly #subject: string;
  readonly #decisions: Decision[] = [];
  readonly #live = new Map<Socket, Decision>();
  readonly #logged = new Set<string>();
  readonly #watches = new Set<Map<string, RefusedTarget>>();
  readonly counts = { allowed: 0, refused: 0, failed: 0 };
  /** Bytes of closed connections. */
  readonly #moved = { sent: 0, received: 0 };

  /** Without an id it is the log of the fence. */
  constructor(log: Log, sandboxId: string | undefined, onHost?: OnHost) {
    this.#onHost = onHost;
    this.#log = log;
    this.#sandboxId = sandboxId;
    this.#subject = sandboxId === undefined ? 'a command in the fence' : 'a sandbox';
  }

  /** Number of open connections. */
  get openConnections(): number {
    return this.#live.size;
  }

  get bytes(): { sent: number; received: number } {
    const total = { ...this.#moved };
    for (const socket of this.#live.keys()) {
      total.sent += socket.bytesWritten;
      total.received += socket.bytesRead;
    }
    return total;
  }

  /** The last decisions, newest first. */
  get decisions(): Decision[] {
    for (const [socket, decision] of this.#live) count(socket, decision);
    return this.#decisions.toReversed();
  }

  /** Collects refusals from now on, each host once, until it is read. */
  watchRefusals(): () => RefusedTarget[] {
    const targets = new Map<string, RefusedTarget>();
    this.#watches.add(targets);
    return () => {
      this.#watches.delete(targets);
      return [...targets.values()];
    };
  }

  /** `advice` is for the caller: the reason and the alternative. */
  refuse({ host: asked, port, rule, reason }: Omit<NewDecision, 'verdict'>, advice: string): void {
    this.add({ host: asked, port, verdict: 'refused', rule, reason }, undefined, advice);
    const host = (port === 0 ? asked : `${asked}:${port}`).slice(0, MOST_TEXT);
    for (const targets of this.#watches) {
      if (targets.size < MOST_REFUSED) targets.set(host, { host, reason: advice });
    }
  }

  /** `socket` is the connection that was made; its bytes are counted. */
  add(decided: NewDecision, socket?: Socket, advice?: string): void {
    const decision = {
      ...decided,
      host: decided.host.slice(0, MOST_TEXT),
      atMs: Date.now(),
      bytesSent: 0,
      bytesReceived: 0,
    };
    this.counts[decided.verdict]++;
    this.#decisions.push(decision);
    if (this.#decisions.length > KEPT_DECISIONS) this.#decisions.shift();
    this.#logDecision(decision, advice);
    this.#onHost?.(decision.port === 0 ? decision.host : `${decision.host}:${decision.port}`, decision.verdict);
    if (!socket) return;

    this.#live.set(socket, decision);
    socket.once('close', () => {
      this.#live.delete(socket);
      count(socket, decision);
      this.#moved.sent += decision.bytesSent;
      this.#moved.received += decision.bytesReceived;
    });
  }

  #logDecision({ host, port, verdict, rule, reason }: Decision, advice?: string): void {
    const line = `${verdict} ${host}:${port}`;
    if (this.#logged.has(line) || this.#logged.size === MOST_LINES) return;
    this.#logged.add(line);
    const fields = { ...(this.#sandboxId && { sandbox: this.#sandboxId }), host, port, rule, reason };
    if (verdict === 'refused') this.#log.warn(`${this.#subject} was refused a connection`, { ...fields, why: advice });
    else this.#log.debug(`a connection of ${this.#subject} was ${verdict}`, fields);
  }
}

function count(socket: Socket, decision: Decision): void {
  decision.bytesSent = socket.bytesWritten;
  decision.bytesReceived = socket.bytesRead;
}

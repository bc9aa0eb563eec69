/**
 * This node's own identity in the cluster: its name, its id, and its reports.
 *
 * It exists before the engine: workers put its id into theirs, and open before the node joins.
 */
import { randomBytes } from 'node:crypto';

import type { Fleet, FleetHost, FleetNode, SandboxReport } from '#contract';
import type { NodeRow } from '#engine';
import type { ClusterSettings } from '../settings.ts';
import type { NodeReport } from '../wire/node-report.ts';
import type { Address } from '../wire/subjects.ts';
import { HostList } from './host-list.ts';
import type { LostNodes } from './lost-nodes.ts';
import type { Peer } from './peer.ts';

interface OwnNodeOptions {
  /** Draws an id of 8 hex digits. */
  draw?: () => string;
}

/** Fields of a report beside the settings. */
type Current = Pick<NodeReport, 'every_ms' | 'conn' | 'catalogue' | 'url'>;

interface Others {
  peers: ReadonlyMap<string, Peer>;
  lost: LostNodes;
}

export class OwnNode implements Fleet {
  isDraining = false;
  #self: Address;
  readonly #draw: () => string;
  readonly #settings: ClusterSettings;
  readonly #version: string;
  readonly #joinedAtMs = Date.now();
  readonly #hosts = new HostList();
  #sandboxReport: (() => SandboxReport) | undefined;
  #others: Others | undefined;

  constructor(settings: ClusterSettings, version: string, { draw = randomId }: OwnNodeOptions = {}) {
    this.#settings = settings;
    this.#version = version;
    this.#draw = draw;
    this.#self = { name: settings.node, id: draw() };
  }

  get self(): Address {
    return this.#self;
  }

  /** Another id, while no sandbox has the former one in its own. Returns whether it has another. */
  drawAgain(): boolean {
    if (this.sandboxCount > 0) return false;
    this.#hosts.remove(this.#self.id);
    this.#self = { name: this.#self.name, id: this.#draw() };
    return true;
  }

  /** From now on this node can list the other nodes. */
  join(others: Others): void {
    this.#others = others;
  }

  offer(report: () => SandboxReport): () => void {
    this.#sandboxReport = report;
    return () => {
      if (this.#sandboxReport === report) this.#sandboxReport = undefined;
    };
  }

  get maxSandboxes(): number | undefined {
    return this.#settings.maxSandboxes;
  }

  /** Sandboxes that live here or are being made. */
  get sandboxCount(): number {
    const report = this.#sandboxReport?.();
    return report ? report.living + report.starting : 0;
  }

  hosts(): readonly FleetHost[] {
    const sandboxes = this.#sandboxReport?.();
    const reportedAtMs = performance.now();
    if (sandboxes) this.#hosts.put({ ...this.self, isDraining: this.isDraining, sandboxes, reportedAtMs });
    else this.#hosts.remove(this.self.id);
    return this.#hosts.rows;
  }

  /** Another node's report; undefined when it is gone. */
  heard({ name, id }: Address, report?: NodeReport): void {
    if (!report?.sandboxes) return this.#hosts.remove(id);
    const { state, sandboxes } = report;
    this.#hosts.put({ name, id, isDraining: state === 'draining', sandboxes, reportedAtMs: performance.now() });
  }

  nodeOf(id: string): FleetNode | undefined {
    if (id === this.self.id) return this.self;
    const peer = this.#others?.peers.get(id);
    return peer ? { name: peer.address.name } : this.#others?.lost.byId(id, performance.now());
  }

  report({ every_ms, conn, catalogue, url }: Current): NodeReport {
    const { roles, aliases, labels } = this.#settings;
    return {
      v: 1,
      every_ms,
      conn,
      joined_ms: this.#joinedAtMs,
      state: this.isDraining ? 'draining' : 'up',
      version: this.#version,
      roles,
      aliases,
      labels,
      now_ms: Date.now(),
      catalogue,
      url,
      sandboxes: this.#sandboxReport?.(),
    };
  }

  row({ isUp, url, functions }: { isUp: boolean; url: string | undefined; functions: number }): NodeRow {
    const { roles, aliases, labels } = this.#settings;
    return {
      ...this.self,
      ...{ roles, aliases, labels, version: this.#version, url, joined_ms: this.#joinedAtMs, functions },
      state: isUp ? (this.isDraining ? 'draining' : 'up') : 'cut off',
      self: true,
      heard_ms_ago: 0,
      calls_out: 0,
      calls_in: 0,
      sandboxes: this.#sandboxReport?.(),
    };
  }
}

function randomId(): string {
  return randomBytes(4).toString('hex');
}

/** Another node, as this one knows it: its last report, its link, and when it was last heard. */
import type { NodeRow, Session } from '#engine';
import { HEARTBEAT_MS, LATE_MS, LEASE_MS, NO_LISTENER_MS } from '../limits.ts';
import type { NodeLink } from '../node-link.ts';
import type { NodeReport } from '../wire/node-report.ts';
import type { Address } from '../wire/subjects.ts';

export class Peer {
  readonly address: Address;
  readonly link: NodeLink;
  readonly session: Session;
  /** Absent until its first report; a node without the role `door` receives none. */
  report: NodeReport | undefined;
  isBeingAsked = false;
  heardAtMs: number;
  #noListenerSinceMs: number | undefined;
  #isLate = false;

  constructor(link: NodeLink, session: Session, nowMs: number) {
    this.address = link.peer;
    this.link = link;
    this.session = session;
    this.heardAtMs = nowMs;
  }

  heard(nowMs: number): void {
    this.heardAtMs = nowMs;
    this.#noListenerSinceMs = undefined;
  }

  /** This node was suspended or disconnected: silence in that time proves nothing about the peer. */
  excuse(nowMs: number): void {
    this.heardAtMs = Math.max(this.heardAtMs, nowMs - HEARTBEAT_MS);
    this.#noListenerSinceMs = undefined;
  }

  isSilent(nowMs: number): boolean {
    return nowMs - this.heardAtMs > Math.max(LEASE_MS, 3 * (this.report?.every_ms ?? 0));
  }

  /** Whether it became late, or was heard again, since this was asked before. */
  turnedLate(nowMs: number): boolean {
    const wasLate = this.#isLate;
    this.#isLate = nowMs - this.heardAtMs > LATE_MS;
    return this.#isLate !== wasLate;
  }

  /** Nothing listens at its subjects. Returns whether that has lasted long enough to be its end. */
  noListener(nowMs: number): boolean {
    this.#noListenerSinceMs ??= nowMs;
    return nowMs - this.#noListenerSinceMs >= NO_LISTENER_MS;
  }

  isNamed(name: string): boolean {
    return this.address.name === name || (this.report?.aliases.includes(name) ?? false);
  }

  /** The row of lists; undefined before its first report. */
  row(nowMs: number, counts: Pick<NodeRow, 'calls_in' | 'functions'>): NodeRow | undefined {
    if (!this.report) return undefined;
    const { state, roles, aliases, labels = {}, version, url, joined_ms, sandboxes } = this.report;
    return {
      ...this.address,
      ...{ state, roles, aliases, labels, version, url, joined_ms, sandboxes },
      self: false,
      heard_ms_ago: Math.round(nowMs - this.heardAtMs),
      calls_out: this.link.calls.size,
      ...counts,
    };
  }
}

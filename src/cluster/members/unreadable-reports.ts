/** Logs why reports of nodes cannot be read, once for each sender: a node of another version would fill the log. */
import type { Log } from '#contract';
import { MAX_HEARTBEAT_BYTES, MAX_PEERS } from '../limits.ts';
import { whyUnreadable } from '../wire/json.ts';
import { NodeReportSchema } from '../wire/node-report.ts';

export class UnreadableReports {
  readonly #log: Log;
  readonly #names = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  warn(name: string, report: Uint8Array): void {
    if (this.#names.has(name) || this.#names.size >= MAX_PEERS) return;
    this.#names.add(name);
    const why = whyUnreadable(NodeReportSchema, report, MAX_HEARTBEAT_BYTES);
    this.#log.warn('a report of a node cannot be read; this node does not see it', { node: name, why });
  }
}

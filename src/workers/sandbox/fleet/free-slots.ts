/**
 * Free slots of machines: those of their last reports, less those that this node took since.
 *
 * Reports and replies of a machine arrive in the order in which it sent them, so the first report after a reply counts
 * the new sandbox. Until then this node counts it.
 */
import type { FleetHost, SandboxReport } from '#contract';

export class FreeSlots {
  /** Number of starts that run now, by the id of the machine. */
  readonly #starting = new Map<string, number>();
  /** Number of sandboxes that started since a report. */
  readonly #started = new WeakMap<SandboxReport, number>();

  free(host: FleetHost): number {
    return host.sandboxes.places + host.sandboxes.starting - this.#startingOn(host) - this.unreported(host);
  }

  /** Number of sandboxes of a machine, with those that start. */
  used(host: FleetHost): number {
    return host.sandboxes.living + this.#startingOn(host) + this.unreported(host);
  }

  /** Number of sandboxes that started since the machine's report. */
  unreported({ sandboxes }: FleetHost): number {
    return this.#started.get(sandboxes) ?? 0;
  }

  /** Takes a slot while `start` runs; `reportOf` returns the last report of a machine. */
  async during<T>(
    { id }: FleetHost,
    reportOf: (id: string) => SandboxReport | undefined,
    start: () => Promise<T>,
  ): Promise<T> {
    this.#add(id, 1);
    try {
      const result = await start();
      const report = reportOf(id);
      if (report) this.#started.set(report, (this.#started.get(report) ?? 0) + 1);
      return result;
    } finally {
      this.#add(id, -1);
    }
  }

  #add(id: string, change: 1 | -1): void {
    const count = (this.#starting.get(id) ?? 0) + change;
    if (count > 0) this.#starting.set(id, count);
    else this.#starting.delete(id);
  }

  /** The report may count the starts of this node already, and counts those of other nodes. */
  #startingOn({ id, sandboxes }: FleetHost): number {
    return Math.max(sandboxes.starting, this.#starting.get(id) ?? 0);
  }
}

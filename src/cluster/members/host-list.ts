/**
 * The machines with sandboxes, by their last reports.
 *
 * Kept up to date in place: a node that places a thousand sandboxes a second over as many hosts would otherwise build
 * the list for each.
 */
import type { FleetHost } from '#contract';

export class HostList {
  readonly #rows: FleetHost[] = [];
  readonly #at = new Map<string, number>();

  /** Changes with the next report: read it at once, or copy it. */
  get rows(): readonly FleetHost[] {
    return this.#rows;
  }

  put(host: FleetHost): void {
    const at = this.#at.get(host.id) ?? this.#rows.length;
    this.#rows[at] = host;
    this.#at.set(host.id, at);
  }

  /** Moves the last one into its slot. */
  remove(id: string): void {
    const at = this.#at.get(id);
    const last = this.#rows.at(-1);
    if (at === undefined || !last) return;
    this.#rows[at] = last;
    this.#at.set(last.id, at);
    this.#rows.pop();
    this.#at.delete(id);
  }
}

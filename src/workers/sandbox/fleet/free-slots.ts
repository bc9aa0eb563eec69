/**
 * Free slots of machines: those of their last reports, less those that this node took since.
 *
 * Reports and replies of a machine arrive in the order in which it sent them, so the first report after a reply counts
 * the new sandbox. Until then this node counts it. A run replies when its sandbox has ended: this node counts it until
 * a report that was sent after the machine had the call.
 */
import type { FleetHost, SandboxReport } from '#contract';

/** A report that arrives this long after a call was sent counts the sandbox: an earlier one may have crossed the call. */
const CROSSING_MS = 250;

/** A start that runs now. */
interface Start {
  /** When the machine was called for a run; undefined for a create, which counts until its reply. */
  calledAtMs?: number;
}

/** Reply of a start. */
export interface Started {
  /** Absent if the sandbox has ended. */
  readonly sandbox_id?: string | null | undefined;
}

export class FreeSlots {
  /** Starts that run now, by the id of the machine. */
  readonly #starts = new Map<string, Set<Start>>();
  /** Number of sandboxes that started since a report. */
  readonly #started = new WeakMap<SandboxReport, number>();

  free(host: FleetHost): number {
    return host.sandboxes.places + host.sandboxes.starting - this.#startingOn(host) - this.#startedOn(host);
  }

  /** Number of sandboxes of a machine, with those that start. */
  used(host: FleetHost): number {
    return host.sandboxes.living + this.#startingOn(host) + this.#startedOn(host);
  }

  /** Number of sandboxes that the machine's next report counts, and that its last one may count already. */
  unreported(host: FleetHost): number {
    const runs = this.#uncounted(host).filter(({ calledAtMs }) => calledAtMs !== undefined);
    return this.#startedOn(host) + runs.length;
  }

  /**
   * Takes a slot while `start` runs; `hostOf` returns a machine with its last report. A run calls `called` when it calls
   * the machine.
   */
  async during<T extends Started>(
    { id }: FleetHost,
    hostOf: (id: string) => FleetHost | undefined,
    start: (called: () => void) => Promise<T>,
  ): Promise<T> {
    const own: Start = {};
    const starts = this.#starts.get(id) ?? new Set();
    this.#starts.set(id, starts.add(own));
    try {
      const result = await start(() => (own.calledAtMs = performance.now()));
      const host = hostOf(id);
      if (host && result.sandbox_id != null && isUncounted(own, host)) {
        this.#started.set(host.sandboxes, this.#startedOn(host) + 1);
      }
      return result;
    } finally {
      starts.delete(own);
      if (starts.size === 0) this.#starts.delete(id);
    }
  }

  #startedOn({ sandboxes }: FleetHost): number {
    return this.#started.get(sandboxes) ?? 0;
  }

  /** The report may count the starts of this node already, and counts those of other nodes. */
  #startingOn(host: FleetHost): number {
    return Math.max(host.sandboxes.starting, this.#uncounted(host).length);
  }

  #uncounted(host: FleetHost): Start[] {
    const starts = this.#starts.get(host.id);
    return starts ? [...starts].filter((start) => isUncounted(start, host)) : [];
  }
}

/** Whether the machine's last report may lack the sandbox. */
function isUncounted({ calledAtMs = Infinity }: Start, { reportedAtMs }: FleetHost): boolean {
  return reportedAtMs - calledAtMs < CROSSING_MS;
}

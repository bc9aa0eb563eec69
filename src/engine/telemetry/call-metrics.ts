/**
 * Counts calls, their durations by function, and refusals.
 *
 * Every call passes here, so a call costs one lookup and a few additions. A function has its own row only while it is
 * registered or was; ids that callers invent share one.
 */
import { counter, type Metric, type MetricSample } from '#contract';
import type { Call } from '../calls/call.ts';
import type { OutcomeKind } from '../calls/reading.ts';

/** Peers may register ids without end: those after it share one row. */
const MAX_FUNCTIONS = 2_000;
const OTHER = 'other';
/** Bounds in seconds, from a search in memory to a build. */
const BOUNDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300, 1800] as const;

interface Row {
  readonly outcomes: Record<OutcomeKind, number>;
  /** Counts by the first bound that is not below the duration; the last is for longer ones. */
  readonly counts: number[];
  sumSeconds: number;
}

export class CallMetrics {
  readonly #rows = new Map<string, Row>();
  readonly #refused = new Map<string, { function: string; code: string; count: number }>();
  /** Requests that were refused at the port, by code. */
  readonly #turnedAway = new Map<string, number>();

  ended({ functionId, startTick }: Pick<Call, 'functionId' | 'startTick'>, outcome: OutcomeKind): void {
    const row = this.#row(functionId);
    const seconds = (performance.now() - startTick) / 1000;
    row.outcomes[outcome] += 1;
    row.sumSeconds += seconds;
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    row.counts[at === -1 ? BOUNDS.length : at]! += 1;
  }

  /** The engine refused a call; `functionId` only if the function exists. */
  refused(functionId: string | undefined, code: string): void {
    const isFull = this.#refused.size >= MAX_FUNCTIONS && !this.#refused.has(`${code} ${functionId}`);
    const name = functionId === undefined || isFull ? OTHER : functionId;
    const key = `${code} ${name}`;
    const known = this.#refused.get(key) ?? { function: name, code, count: 0 };
    known.count += 1;
    this.#refused.set(key, known);
  }

  /** The port refused a request: its token, host or origin. */
  turnedAway(code: string): void {
    this.#turnedAway.set(code, (this.#turnedAway.get(code) ?? 0) + 1);
  }

  read(): Metric[] {
    const rows = [...this.#rows];
    return [
      counter(
        'workcell_calls_total',
        'Calls that ended, by function and outcome.',
        rows.flatMap(([id, { outcomes }]) =>
          Object.entries(outcomes).map(([outcome, value]) => ({ labels: { function: id, outcome }, value })),
        ),
      ),
      {
        name: 'workcell_call_duration_seconds',
        type: 'histogram',
        help: 'Duration of calls that ended, by function.',
        samples: rows.map(([id, row]) => histogram({ function: id }, row)),
      },
      counter(
        'workcell_refusals_total',
        'Calls that the engine refused before a worker got them, by function and code.',
        [...this.#refused.values()].map(({ count: value, ...labels }) => ({ labels, value })),
      ),
      counter(
        'workcell_requests_refused_total',
        'Requests and connections that the port refused, by code.',
        [...this.#turnedAway].map(([code, value]) => ({ labels: { code }, value })),
      ),
    ];
  }

  #row(functionId: string): Row {
    const known = this.#rows.get(functionId);
    if (known) return known;
    const name = this.#rows.size < MAX_FUNCTIONS ? functionId : OTHER;
    const row = this.#rows.get(name) ?? {
      outcomes: { ok: 0, warning: 0, failed: 0, refused: 0, cancelled: 0 },
      counts: Array.from({ length: BOUNDS.length + 1 }, () => 0),
      sumSeconds: 0,
    };
    this.#rows.set(name, row);
    return row;
  }
}

function histogram(labels: Record<string, string>, { counts, sumSeconds }: Row): MetricSample {
  let below = 0;
  const buckets = BOUNDS.map((le, at) => ({ le, count: (below += counts[at]!) }));
  return { labels, value: sumSeconds, count: below + counts.at(-1)!, buckets };
}

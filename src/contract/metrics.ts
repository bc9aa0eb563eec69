/** Metrics of a server: named figures with labels, which every exporter reads from the same lists. */
import { z } from 'zod';

const Labels = z
  .record(z.string(), z.string())
  .describe('Values of a bounded set: function ids, states and codes, never texts of a caller.');

export const MetricSchema = z.object({
  name: z.string().describe('In the spelling of Prometheus, with the unit: `workcell_call_duration_seconds`.'),
  type: z.enum(['counter', 'gauge', 'histogram']),
  help: z.string(),
  samples: z.array(
    z.object({
      labels: Labels,
      value: z.number().describe('Of a histogram: the sum of observed values.'),
      count: z.int().optional().describe('Of a histogram: the number of observed values.'),
      buckets: z
        .array(z.object({ le: z.number(), count: z.int() }))
        .optional()
        .describe('Of a histogram: the number of values up to `le`, without the bucket of all values.'),
    }),
  ),
});

export type Metric = Readonly<z.input<typeof MetricSchema>>;
export type MetricSample = Metric['samples'][number];

/** Figures that are looked up when they are read. */
export type ReadMetrics = () => Promise<readonly Metric[]> | readonly Metric[];

/** A figure without labels, or one for each state. */
export function gauge(name: string, help: string, value: number | readonly MetricSample[]): Metric {
  return { name, type: 'gauge', help, samples: typeof value === 'number' ? [{ labels: {}, value }] : [...value] };
}

export function counter(name: string, help: string, value: number | readonly MetricSample[]): Metric {
  return { ...gauge(name, help, value), type: 'counter' };
}

/** Counts things by a state; states that are not met count 0, so that their series do not come and go. */
export function byState(states: readonly string[], met: Iterable<string>): MetricSample[] {
  const counts = new Map(states.map((state) => [state, 0]));
  for (const state of met) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, value]) => ({ labels: { state }, value }));
}

/** One metric for each name: samples of the same metric from several sources. */
export function joinMetrics(metrics: readonly Metric[]): Metric[] {
  const joined = new Map<string, Metric>();
  for (const metric of metrics) {
    const known = joined.get(metric.name);
    joined.set(metric.name, known ? { ...known, samples: [...known.samples, ...metric.samples] } : metric);
  }
  return [...joined.values()];
}

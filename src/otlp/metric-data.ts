/** The metrics of the server as OpenTelemetry spells them; the counts are those of `engine::metrics`. */
import type { HrTime } from '@opentelemetry/api';
import type { DataPoint, Histogram, MetricData, MetricProducer } from '@opentelemetry/sdk-metrics';

import type { Metric, MetricSample, ReadMetrics } from '#contract';
import type { Packages } from './packages.ts';

type Sdk = Pick<Packages, 'api' | 'metrics' | 'resources'>;

export function producerOf(read: ReadMetrics, version: string, sdk: Sdk): MetricProducer {
  const startTime = hrTime(performance.timeOrigin);
  return {
    async collect() {
      const resource = sdk.resources.emptyResource();
      try {
        const times = { startTime, endTime: hrTime(Date.now()) };
        const metrics = (await read()).map((metric) => toData(metric, times, sdk));
        return {
          resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'workcell', version }, metrics }] },
          errors: [],
        };
      } catch (error) {
        return { resourceMetrics: { resource, scopeMetrics: [] }, errors: [error] };
      }
    },
  };
}

interface Times {
  startTime: HrTime;
  endTime: HrTime;
}

function toData({ name, help, type, samples }: Metric, times: Times, { api, metrics }: Sdk): MetricData {
  const { DataPointType, AggregationTemporality } = metrics;
  const common = {
    descriptor: { name, description: help, unit: '', valueType: api.ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = <T>(valueOf: (sample: MetricSample) => T): DataPoint<T>[] =>
    samples.map((sample) => ({ ...times, attributes: { ...sample.labels }, value: valueOf(sample) }));
  const value = (sample: MetricSample) => sample.value;
  if (type === 'histogram')
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: points(toHistogram) };
  if (type === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points(value) };
  return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points(value) };
}

/** Prometheus counts all values up to a bound, OpenTelemetry those between two. */
function toHistogram({ value: sum, count = 0, buckets = [] }: MetricSample): Histogram {
  const upTo = [0, ...buckets.map((bucket) => bucket.count), count];
  return {
    buckets: { boundaries: buckets.map(({ le }) => le), counts: upTo.slice(1).map((below, at) => below - upTo[at]!) },
    sum,
    count,
  };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

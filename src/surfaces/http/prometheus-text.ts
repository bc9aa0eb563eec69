/** Metrics in the text format of Prometheus, version 0.0.4. */
import type { Metric, MetricSample } from '#contract';

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function prometheusText(metrics: readonly Metric[]): string {
  return metrics.map(family).join('');
}

function family({ name, type, help, samples }: Metric): string {
  const head = `# HELP ${name} ${help.replace(/[\\\n]/g, escaped)}\n# TYPE ${name} ${type}\n`;
  return (
    head + samples.flatMap((sample) => (type === 'histogram' ? histogram(name, sample) : line(name, sample))).join('')
  );
}

function histogram(name: string, { labels, value, count = 0, buckets = [] }: MetricSample): string[] {
  const all = [...buckets.map(({ le, count: below }) => [String(le), below] as const), ['+Inf', count] as const];
  return [
    ...all.map(([le, below]) => line(`${name}_bucket`, { labels: { ...labels, le }, value: below })),
    line(`${name}_sum`, { labels, value }),
    line(`${name}_count`, { labels, value: count }),
  ];
}

function line(name: string, { labels, value }: Pick<MetricSample, 'labels' | 'value'>): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${text.replace(/[\\\n"]/g, escaped)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`;
}

function escaped(char: string): string {
  return char === '\n' ? '\\n' : `\\${char}`;
}

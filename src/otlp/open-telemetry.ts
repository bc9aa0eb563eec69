/**
 * Puts the exporters together: spans in batches, metrics from time to time, messages of SDKs as they arrive.
 *
 * The bounds of the SDK apply: a batch that waits longer than its timeout is dropped, and so are spans beyond its
 * queue. Nothing is registered globally, so a program around this one keeps its own OpenTelemetry.
 */
import { randomUUID } from 'node:crypto';

import type { Log, Telemetry } from '#contract';
import { Forward } from './forward.ts';
import { producerOf } from './metric-data.ts';
import { loadPackages, type Packages } from './packages.ts';
import { reporter, reporting } from './reports.ts';
import { otlpSettings } from './settings.ts';
import { Spans } from './spans.ts';

const FLUSH_MS = 2_000;

interface Options {
  version: string;
  log: Log;
  env?: NodeJS.ProcessEnv;
}

/** Undefined when the variables name no collector. Throws a `ConfigError` for settings and packages that do not fit. */
export async function openTelemetry({ version, log, env = process.env }: Options): Promise<Telemetry | undefined> {
  const settings = otlpSettings(env);
  if (!settings) return undefined;
  const { endpoint, hasTraces, hasMetrics, metricIntervalMs } = settings;
  const packages = await loadPackages();
  const { api, traces, metrics, base, traceExporter, metricExporter } = packages;
  const report = (what: string) => reporter(log, { what, endpoint });
  const resource = resourceOf(packages, version);
  const batches = new traces.BatchSpanProcessor(reporting(new traceExporter.OTLPTraceExporter(), report('traces')));
  const tracers = new traces.BasicTracerProvider({ resource, spanProcessors: [batches] });
  const spans = new Spans(tracers.getTracer('workcell', version), api);
  const forward = new Forward(base);
  const closing: (() => Promise<void>)[] = [() => tracers.shutdown(), () => forward.close()];
  log.info('telemetry is sent to a collector', { endpoint });
  return {
    begin: (call) => (hasTraces ? spans.begin(call) : undefined),
    forward: (message) => forward.take(message),
    collect(read) {
      if (!hasMetrics) return;
      const reader = new metrics.PeriodicExportingMetricReader({
        exporter: reporting(new metricExporter.OTLPMetricExporter(), report('metrics')),
        exportIntervalMillis: metricIntervalMs,
        metricProducers: [producerOf(read, version, packages)],
      });
      const meters = new metrics.MeterProvider({ resource, readers: [reader] });
      closing.push(() => meters.shutdown());
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, FLUSH_MS)));
      const all = Promise.allSettled(closing.splice(0).map((close) => close()));
      await Promise.race([all, late]);
      clearTimeout(timer);
    },
  };
}

function resourceOf({ resources }: Packages, version: string) {
  const own = { 'service.name': 'workcell', 'service.version': version, 'service.instance.id': randomUUID() };
  const { resourceFromAttributes, detectResources, envDetector } = resources;
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override these.
  return resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] }));
}

/** Loads the packages of OpenTelemetry; all other files import only their types. */
import { ConfigError } from '#contract';

/** The versions of package.json; newer ones need Node 22. */
const INSTALL =
  'npm install @opentelemetry/api@1.9.1 @opentelemetry/resources@2.12.0 @opentelemetry/sdk-trace-base@2.12.0 ' +
  '@opentelemetry/sdk-metrics@2.12.0 @opentelemetry/otlp-exporter-base@0.223.0 ' +
  '@opentelemetry/exporter-trace-otlp-http@0.223.0 @opentelemetry/exporter-metrics-otlp-http@0.223.0';

export interface Packages {
  api: typeof import('@opentelemetry/api');
  resources: typeof import('@opentelemetry/resources');
  traces: typeof import('@opentelemetry/sdk-trace-base');
  metrics: typeof import('@opentelemetry/sdk-metrics');
  base: typeof import('@opentelemetry/otlp-exporter-base/node-http');
  traceExporter: typeof import('@opentelemetry/exporter-trace-otlp-http');
  metricExporter: typeof import('@opentelemetry/exporter-metrics-otlp-http');
}

export async function loadPackages(): Promise<Packages> {
  try {
    return await importAll();
  } catch (error) {
    if (!['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages of OpenTelemetry are not installed: unset it, or ${INSTALL}`,
    );
  }
}

async function importAll(): Promise<Packages> {
  const [api, resources, traces, metrics, base, traceExporter, metricExporter] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/otlp-exporter-base/node-http'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
  ]);
  return { api, resources, traces, metrics, base, traceExporter, metricExporter };
}

/** Reads the variables of OpenTelemetry that its exporters do not read themselves, or whose errors they ignore. */
import { ConfigError } from '#contract';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const INTERVAL = 'OTEL_METRIC_EXPORT_INTERVAL';
const DEFAULT_INTERVAL_MS = 60_000;

export interface OtlpSettings {
  /** The endpoint without user and password, for logs. */
  readonly endpoint: string;
  readonly hasTraces: boolean;
  readonly hasMetrics: boolean;
  readonly metricIntervalMs: number;
}

/** Undefined when nothing is to be sent. */
export function otlpSettings(env: NodeJS.ProcessEnv): OtlpSettings | undefined {
  const given = env[ENDPOINT]?.trim();
  if (!given || env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(`${ENDPOINT}: "${given}" is not an HTTP URL: set it to one such as http://127.0.0.1:4318`);
  }
  if (env.OTEL_EXPORTER_OTLP_PROTOCOL?.trim() === 'grpc') {
    throw new ConfigError(
      'OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not spoken here: set it to http/json, and the endpoint to the HTTP port of the collector, mostly 4318',
    );
  }
  const metricIntervalMs = Number(env[INTERVAL]?.trim() || DEFAULT_INTERVAL_MS);
  if (!(metricIntervalMs >= 1 && metricIntervalMs < 2 ** 31)) {
    throw new ConfigError(
      `${INTERVAL}: "${env[INTERVAL]}" is not a number of milliseconds: set it to 60000, or unset it`,
    );
  }
  return {
    endpoint: `${url.origin}${url.pathname}`,
    hasTraces: env.OTEL_TRACES_EXPORTER !== 'none',
    hasMetrics: env.OTEL_METRICS_EXPORTER !== 'none',
    metricIntervalMs,
  };
}

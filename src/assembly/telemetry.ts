/** Opens the telemetry of a server; OpenTelemetry is loaded only where a collector is named. */
import { ConfigError, type Log, type Telemetry } from '#contract';
import { version } from '#version';

/** Undefined without a collector. Throws a `ConfigError` for settings that cannot be used. */
export async function requireTelemetry(log: Log): Promise<Telemetry | undefined> {
  if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined;
  const { openTelemetry } = await import('#otlp');
  return openTelemetry({ version, log });
}

/** For a server inside another program, whose variables these may be: settings that cannot be used are only logged. */
export async function tryTelemetry(log: Log): Promise<Telemetry | undefined> {
  try {
    return await requireTelemetry(log);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log.warn('no telemetry is sent', { why: error.message });
    return undefined;
  }
}

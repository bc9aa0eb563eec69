/** Traces, metrics and forwarded telemetry by OTLP; loaded only when a collector is named. */
export { openTelemetry } from './open-telemetry.ts';

import { expect, test } from 'vitest';

import { otlpSettings } from './settings.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:pass@127.0.0.1:4318/otlp?key=1' };

test('nothing is sent without an endpoint, or when the SDK is off', () => {
  expect(otlpSettings({})).toBeUndefined();
  expect(otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' })).toBeUndefined();
  expect(otlpSettings({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined();
});

test('logs get the endpoint without its secrets', () => {
  expect(otlpSettings({ ...endpoint, OTEL_METRICS_EXPORTER: 'none' })).toEqual({
    endpoint: 'http://127.0.0.1:4318/otlp',
    hasTraces: true,
    hasMetrics: false,
    metricIntervalMs: 60_000,
  });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, '"collector:4318" is not an HTTP URL'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1' }, '"127.0.0.1" is not an HTTP URL'],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'set it to http/json'],
  [{ ...endpoint, OTEL_METRIC_EXPORT_INTERVAL: 'often' }, '"often" is not a number of milliseconds'],
  [{ ...endpoint, OTEL_METRIC_EXPORT_INTERVAL: '0' }, '"0" is not a number of milliseconds'],
])('%j is refused', (env, message) => {
  expect(() => otlpSettings(env)).toThrow(message);
});

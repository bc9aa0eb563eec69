/** The published SDK, unmodified and without telemetry. */
import { registerWorker } from 'iii-sdk';

export async function connectSdk(url) {
  const sdk = registerWorker(url, { otel: { enabled: false }, enableMetricsReporting: false });
  await settled(sdk);
  return sdk;
}

/** It acknowledges no registration; but once a call is answered, everything sent before has been handled. */
export async function settled(sdk) {
  await sdk.trigger({ function_id: 'engine::workers::list', payload: {} });
}

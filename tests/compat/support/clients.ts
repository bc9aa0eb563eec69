/**
 * The two published SDKs behind one shape, unmodified, without telemetry and without their chatter.
 *
 * They acknowledge no registration. `settled` replaces it: frames of one socket are handled in order,
 * so what was sent before an answered call has been handled.
 */
import { registerWorker as registerWorker11, type ISdk } from 'iii-sdk-0-11';
import { registerWorker as registerWorker22, type IIIClient, type InitOptions } from 'iii-sdk';
import { createChannel } from 'iii-sdk/helpers';
import { vi } from 'vitest';

export const versions = ['0.22.1', '0.11.6'] as const;
export type Version = (typeof versions)[number];

/** Every version with every version. */
export const pairs = versions.flatMap((one) => versions.map((other) => [one, other] as const));

type Channel = Awaited<ReturnType<typeof createChannel>>;

export interface SdkClient extends IIIClient, AsyncDisposable {
  createChannel(bufferSize?: number): Promise<Channel>;
  /** Resolves once the engine has handled everything sent so far. */
  settled(): Promise<void>;
}

export function connectSdk(version: Version, url: string, options: InitOptions = {}): SdkClient {
  hushSdks();
  const settings: InitOptions = {
    otel: { enabled: false },
    enableMetricsReporting: false,
    // A tenth of the usual waits; the schedule is the SDK's own.
    reconnectionConfig: { initialDelayMs: 100, maxDelayMs: 500 },
    ...options,
  };
  const client = version === '0.22.1' ? registerWorker22(url, settings) : registerWorker11(url, settings);
  return {
    trigger: client.trigger,
    registerFunction: client.registerFunction,
    registerTrigger: client.registerTrigger,
    registerTriggerType: client.registerTriggerType,
    unregisterTriggerType: client.unregisterTriggerType,
    shutdown: client.shutdown,
    createChannel: (bufferSize) =>
      version === '0.22.1'
        ? createChannel(client, bufferSize)
        : ((client as ISdk).createChannel(bufferSize) as unknown as Promise<Channel>),
    settled: async () => void (await client.trigger({ function_id: 'engine::workers::list', payload: {} })),
    [Symbol.asyncDispose]: () => client.shutdown(),
  };
}

/** For each test file anew: Vitest gives every file the console back, and the files of a process share this module. */
function hushSdks(): void {
  for (const level of ['debug', 'log', 'warn', 'error'] as const) {
    if (vi.isMockFunction(console[level])) continue;
    const print = console[level].bind(console);
    vi.spyOn(console, level).mockImplementation((...words: unknown[]) => {
      if (!/^\[(iii|OTel)\]/.test(String(words[0]))) print(...words);
    });
  }
}

/** The module to import for that version. */
export const packageOf = { '0.22.1': 'iii-sdk', '0.11.6': 'iii-sdk-0-11' } as const;

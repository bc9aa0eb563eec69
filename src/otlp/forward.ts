/** Forwards messages that SDKs of iii send to `/otel`: OTLP as JSON, after four letters that name its kind. */
import type { Packages } from './packages.ts';

const SIGNALS = {
  OTLP: ['TRACES', 'v1/traces'],
  MTRC: ['METRICS', 'v1/metrics'],
  LOGS: ['LOGS', 'v1/logs'],
} as const;
const PREFIX_BYTES = 4;
/**
 * Concurrent messages of each kind; with the largest message size this bounds the memory. Others are dropped meanwhile.
 */
const MOST_UNDER_WAY = 4;

/** Messages are forwarded unparsed: parsing them would cost the event loop more than sending them. */
const asItIs = { serializeRequest: (message: Uint8Array) => message, deserializeResponse: () => ({}) };
/** A counter that is never read. */
const uncounted = { name: 'span', countItems: () => 1 } as const;

export class Forward {
  readonly #senders: Map<string, ReturnType<typeof senderOf>>;

  constructor(base: Packages['base']) {
    this.#senders = new Map(Object.entries(SIGNALS).map(([prefix, signal]) => [prefix, senderOf(base, signal)]));
  }

  /** Not logged: a peer controls which data the collector refuses here. */
  take(message: Buffer): void {
    const sender = this.#senders.get(message.toString('latin1', 0, PREFIX_BYTES));
    sender?.export(message.subarray(PREFIX_BYTES), () => {});
  }

  async close(): Promise<void> {
    await Promise.all([...this.#senders.values()].map((sender) => sender.shutdown()));
  }
}

function senderOf(base: Packages['base'], [signal, path]: (typeof SIGNALS)[keyof typeof SIGNALS]) {
  const headers = { 'Content-Type': 'application/json' };
  const options = base.convertLegacyHttpOptions({ concurrencyLimit: MOST_UNDER_WAY }, signal, path, headers);
  return base.createOtlpHttpExportDelegate(options, asItIs, 'workcell_forward', uncounted, undefined);
}

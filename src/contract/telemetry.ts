/** Interface to a collector of OpenTelemetry for spans, metrics and forwarded messages; absent without a collector. */
import type { Caller } from '#protocol';
import type { ReadMetrics } from './metrics.ts';

export interface TracedCall {
  readonly id: string;
  /** Undefined for a function that does not exist: ids that callers invent must not become names of spans. */
  readonly functionId: string | undefined;
  readonly namespace: string;
  readonly principal: Pick<Caller, 'kind'>;
  /** The call that it was made for. */
  readonly via?: string | undefined;
  /** Trace context as the caller sent it: may be any text. */
  readonly traceparent?: string | null | undefined;
}

export interface SpanEnd {
  readonly kind: 'ok' | 'warning' | 'failed' | 'refused' | 'cancelled';
  /** Code of the failure. */
  readonly code?: string | undefined;
}

export interface CallSpan {
  /** Trace context of this span, for calls made on behalf of the call. */
  readonly traceparent: string;
  /** Ends the span; one that never ends is not sent. */
  end(outcome: SpanEnd): void;
}

/** Telemetry of a server. Its methods never throw or wait, and every buffer has a bound. */
export interface Telemetry {
  /** Begins the span of a call; undefined when no traces are sent. */
  begin(call: TracedCall): CallSpan | undefined;
  /** Sends these metrics from time to time. */
  collect(read: ReadMetrics): void;
  /** Forwards a message that an SDK sent to `/otel`, or drops it. */
  forward(message: Buffer): void;
  /** Sends the rest, for two seconds at most. */
  close(): Promise<void>;
}

/** One span for each call. */
import type { Span, Tracer } from '@opentelemetry/api';

import type { CallSpan, SpanEnd, TracedCall } from '#contract';
import type { Packages } from './packages.ts';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const UNKNOWN = 'unknown function';

export class Spans {
  readonly #tracer: Tracer;
  readonly #api: Packages['api'];

  constructor(tracer: Tracer, api: Packages['api']) {
    this.#tracer = tracer;
    this.#api = api;
  }

  begin(call: TracedCall): CallSpan {
    const { SpanKind } = this.#api;
    const span = this.#tracer.startSpan(
      call.functionId ?? UNKNOWN,
      {
        kind: call.via === undefined ? SpanKind.SERVER : SpanKind.INTERNAL,
        attributes: {
          'workcell.call.id': call.id,
          'workcell.namespace': call.namespace,
          'workcell.caller.kind': call.principal.kind,
        },
      },
      this.#parent(call.traceparent),
    );
    return { traceparent: spelled(span), end: (outcome) => this.#end(span, outcome) };
  }

  #parent(traceparent: TracedCall['traceparent']) {
    const { ROOT_CONTEXT, trace } = this.#api;
    const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
    if (traceId === undefined) return ROOT_CONTEXT;
    // Ids of zeros are not valid: the SDK then begins a trace.
    const parent = { traceId, spanId: spanId!, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true };
    return trace.setSpanContext(ROOT_CONTEXT, parent);
  }

  /** Records only the code: messages may contain paths and contents. */
  #end(span: Span, { kind, code }: SpanEnd): void {
    span.setAttribute('workcell.outcome', kind);
    if (code !== undefined) span.setAttribute('error.type', code);
    if (kind === 'failed' || kind === 'refused') {
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, ...(code !== undefined && { message: code }) });
    }
    span.end();
  }
}

function spelled(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** A call as an async iterable of its events, with its result at the end. */
import type { Bus, CallOptions } from '#contract';
import type { CallEvent } from '#protocol';

/** Events queued for a slow loop; the oldest are dropped. */
const MAX_WAITING = 1_000;

/** The longest that the engine lets a call run: a stream is for long calls. */
const STREAM_MS = 3_600_000;

export interface CallStream<Result = unknown, Event = CallEvent> extends AsyncIterable<Event> {
  /** Rejects when the call fails. Leaving the loop before its end cancels the call. */
  readonly result: Promise<Result>;
}

/** Starts the call at once. The loop ends when the call does; `result` has its outcome. */
export function streamCall(bus: Bus, functionId: string, payload?: unknown, options: CallOptions = {}): CallStream {
  const waiting: CallEvent[] = [];
  const left = new AbortController();
  const loops = new Set<() => void>();
  let isOver = false;
  const wake = () => {
    for (const goOn of loops) goOn();
    loops.clear();
  };
  const result = bus
    .call(functionId, payload, {
      timeoutMs: STREAM_MS,
      ...options,
      signal: AbortSignal.any([left.signal, ...(options.signal ? [options.signal] : [])]),
      onEvent(event) {
        if (waiting.push(event) > MAX_WAITING) waiting.shift();
        wake();
      },
    })
    .finally(() => {
      isOver = true;
      wake();
    });
  // A caller that only wants the events need not handle the failure of the call.
  result.catch(() => {});

  return {
    result,
    async *[Symbol.asyncIterator]() {
      try {
        while (waiting.length > 0 || !isOver) {
          if (waiting.length > 0) yield waiting.shift()!;
          else await new Promise<void>((resolve) => loops.add(resolve));
        }
      } finally {
        left.abort();
      }
    },
  };
}

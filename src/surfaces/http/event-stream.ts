/**
 * A call over HTTP as server-sent events: `progress` for each event of the call, then `result` or `error`.
 *
 * The status is always 200: the outcome of the call is known only at its end. An event with an `offset` has it as its
 * id, so that a client that reconnects sends the offset where it stopped.
 */
import type { CallEvent } from '#protocol';

export const EVENT_STREAM = 'text/event-stream';
const HEADERS = { 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };
/** A slow reader misses events beyond this, never the result. */
const MAX_WAITING_BYTES = 1_048_576;

/** The outcome of a call: its result, or the body of its failure. */
export type StreamEnd = { result: unknown } | { error: unknown };

/**
 * Answers with the stream; the signal aborts when the reader disconnects. Events without an offset are numbered, but
 * not if the call is resumable: a client that reconnects would send their number as an offset.
 */
export function eventStream(
  call: (onEvent: (event: CallEvent) => void, signal: AbortSignal) => Promise<StreamEnd>,
  { isResumable }: { isResumable: boolean },
): Response {
  const gone = new AbortController();
  let count = 0;
  let hasOffsets = isResumable;
  const body = new ReadableStream<Uint8Array>(
    {
      async start(controller) {
        const send = (name: string, data: unknown, offset?: number) => {
          count += 1;
          hasOffsets ||= offset !== undefined;
          if (!gone.signal.aborted) controller.enqueue(encode(name, data, hasOffsets ? offset : count));
        };
        const end = await call((event) => {
          if ((controller.desiredSize ?? 0) > 0) send('progress', event, offsetOf(event));
          else count += 1;
        }, gone.signal);
        if ('result' in end) send('result', end.result);
        else send('error', end.error);
        if (!gone.signal.aborted) controller.close();
      },
      cancel: () => gone.abort(),
    },
    { highWaterMark: MAX_WAITING_BYTES, size: (piece) => piece.length },
  );
  return new Response(body, { headers: HEADERS });
}

function offsetOf({ offset }: CallEvent): number | undefined {
  return typeof offset === 'number' ? offset : undefined;
}

/** JSON has no literal line breaks, so one `data` line holds all of it. */
function encode(name: string, data: unknown, id: number | undefined): Uint8Array {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`event: ${name}\n${idLine}data: ${JSON.stringify(data)}\n\n`);
}

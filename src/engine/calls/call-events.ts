/**
 * Delivers events of calls to callers that asked for them.
 *
 * Events are reports, not answers: a slow reader misses some, detects the gap by `seq`, and still gets its result. A
 * call without events for a while is reported as running, so that callers need no timer of their own.
 */
import { EVENT_RUNNING, type EncodedFrame, type EventFrame } from '#protocol';
import type { Call } from './call.ts';
import type { OpenCalls } from './open-calls.ts';

/** After this long without an event a call is reported as running. */
const QUIET_MS = 2_000;
/** A longer event is dropped: bulk belongs into channels and results. */
const MAX_EVENT_BYTES = 256 * 1024;

interface Reported {
  /** `seq` of the last event that the executor sent. */
  seq: number;
  atTick: number;
}

export class CallEvents {
  readonly #open: OpenCalls;
  readonly #reported = new Map<Call, Reported>();
  #timer: NodeJS.Timeout | undefined;

  constructor(open: OpenCalls) {
    this.#open = open;
  }

  /** The call was handed to its executor. */
  began(call: Call): void {
    if (!call.waiting?.wantsEvents || call.waiting.enqueued) return;
    this.#reported.set(call, { seq: 0, atTick: call.startTick });
    this.#timer ??= setInterval(() => this.#reportRunning(), QUIET_MS / 4).unref();
  }

  deliver(call: Call, frame: EventFrame, encoded?: EncodedFrame): void {
    const reported = this.#reported.get(call);
    if (!reported || (encoded && encoded.length > MAX_EVENT_BYTES)) return;
    reported.seq = frame.seq;
    reported.atTick = performance.now();
    send(call, frame, encoded);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #reportRunning(): void {
    const now = performance.now();
    for (const [call, reported] of this.#reported) {
      if (this.#open.find(call.id) !== call) {
        this.#reported.delete(call);
      } else if (now - reported.atTick >= QUIET_MS) {
        reported.atTick = now;
        const event = { type: EVENT_RUNNING, elapsed_ms: Math.round(now - call.startTick) };
        send(call, { type: 'invocationevent', invocation_id: call.id, seq: reported.seq, event });
      }
    }
    if (this.#reported.size === 0) this.close();
  }
}

function send({ waiting }: Call, frame: EventFrame, encoded?: EncodedFrame): void {
  const { session, invocationId } = waiting!;
  if (session.link.isBehind) return;
  if (invocationId === frame.invocation_id) session.link.send(frame, encoded);
  else session.link.send({ ...frame, invocation_id: invocationId });
}

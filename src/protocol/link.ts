/**
 * A link carries frames between one engine and one peer, over a socket or in memory.
 *
 * A frame from a socket keeps its encoded bytes, so that an engine that changes nothing can forward
 * them.
 */
import type { ChannelEnds } from './channel.ts';
import { EncodedObject } from './encoded-object.ts';
import type { Frame } from './frames.ts';

/** The UTF-8 JSON text of a frame as received from the wire. */
export type EncodedFrame = Uint8Array;

/** The outcome of sending a frame. A link never queues without bound: it refuses. */
export type SendOutcome = 'sent' | 'too-large' | 'not-json' | 'full' | 'closed';

export interface LinkEvents {
  frame(frame: Frame, encoded?: EncodedFrame): void;
  /** A frame above the size limit was read and dropped; has the readable part of its head. */
  oversized?(head: FrameHead): void;
  /** Called once, whichever end closed. */
  closed(reason: string): void;
}

export interface Link {
  /** Called once, by the owner of this end. Frames that came before wait for it. */
  attach(events: LinkEvents): void;
  send(frame: Frame, encoded?: EncodedFrame): SendOutcome;
  close(reason?: string): void;
  /** Whether the peer is so far behind that optional frames are not sent. */
  readonly isBehind?: boolean;
  /** Bytes that the peer has not read. */
  readonly unsentBytes?: number;
}

/** A frame as JSON; undefined if it cannot be serialized: it holds a BigInt, or is nested too deep. */
export function encodeFrame(frame: Frame): string | Buffer | undefined {
  try {
    if (frame.type !== 'invocationresult' || !(frame.result instanceof EncodedObject)) return JSON.stringify(frame);
    const result: EncodedObject = frame.result;
    const whole = new EncodedObject(frame, 'result', { json: result.parts(), decode: () => result.decode() });
    return Buffer.concat(whole.parts());
  } catch {
    return undefined;
  }
}

/** The first fields of a frame, enough to answer one that is too large to accept. */
export interface FrameHead {
  type?: string;
  invocationId?: string;
  functionId?: string;
  bytes: number;
}

/** Connects to an engine: frames through a link, bytes through channel ends. */
export interface Dialer extends ChannelEnds {
  dial(): Promise<Link>;
  /** Whether a lost link should be dialled again. */
  readonly redials: boolean;
  /** URL of the engine's pages, such as `http://127.0.0.1:49134`; undefined while nothing listens. */
  readonly httpUrl?: string;
  /** Whether the engine is in this process: then each trusts the principals that the other sends. */
  readonly isInProcess?: boolean;
}

/** Two joined ends in this process. Frames arrive in order, in a later microtask, never re-entrantly. */
export function memoryLinks(): [Link, Link] {
  const a = new MemoryLink();
  const b = new MemoryLink();
  a.peer = b;
  b.peer = a;
  return [a, b];
}

class MemoryLink implements Link {
  peer!: MemoryLink;
  #events: LinkEvents | undefined;
  #early: Frame[] = [];
  #isOpen = true;
  #closedWith = '';

  attach(events: LinkEvents): void {
    this.#events = events;
    for (const frame of this.#early.splice(0)) events.frame(frame);
    if (!this.#isOpen) events.closed(this.#closedWith);
  }

  send(frame: Frame): SendOutcome {
    if (!this.#isOpen) return 'closed';
    const { peer } = this;
    queueMicrotask(() => peer.#deliver(frame));
    return 'sent';
  }

  close(reason = 'closed'): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#closedWith = reason;
    this.#events?.closed(reason);
    queueMicrotask(() => this.peer.close(reason));
  }

  #deliver(frame: Frame): void {
    if (!this.#isOpen) return;
    if (this.#events) this.#events.frame(frame);
    else this.#early.push(frame);
  }
}

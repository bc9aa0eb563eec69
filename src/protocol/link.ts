/**
 * A link carries frames between one engine and one peer, over a socket or in memory.
 *
 * A frame that came from a socket keeps its encoded bytes beside it, so that an engine which has
 * nothing to change may send on the very bytes it received.
 */
import type { ChannelEnds } from './channel.ts';
import type { Frame } from './frames.ts';

/** The UTF-8 JSON text of a frame as it stood on the wire. */
export type EncodedFrame = Uint8Array;

export interface LinkEvents {
  frame(frame: Frame, encoded?: EncodedFrame): void;
  /** Once, whoever closed. */
  closed(reason: string): void;
}

export interface Link {
  /** Must be called before the first await after the link was made, so that no frame is missed. */
  attach(events: LinkEvents): void;
  send(frame: Frame, encoded?: EncodedFrame): void;
  close(reason?: string): void;
}

/** A way to reach an engine: frames through a link, bytes through channel ends. */
export interface Dialer extends ChannelEnds {
  dial(): Promise<Link>;
  /** Whether a lost link is worth dialling again. */
  readonly redials: boolean;
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
  #isOpen = true;

  attach(events: LinkEvents): void {
    this.#events = events;
  }

  send(frame: Frame): void {
    const { peer } = this;
    if (!this.#isOpen) return;
    queueMicrotask(() => peer.#deliver(frame));
  }

  close(reason = 'closed'): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#events?.closed(reason);
    queueMicrotask(() => this.peer.close(reason));
  }

  #deliver(frame: Frame): void {
    if (this.#isOpen) this.#events?.frame(frame);
  }
}

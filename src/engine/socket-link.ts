/**
 * A link over a WebSocket, from the engine's side.
 *
 * Unread bytes wait in the peer's socket buffer. Past the first mark the engine stops
 * reading from that peer, so it cannot cause more; past the second it counts as not reading.
 */
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';

import type { RawData, WebSocket } from 'ws';

import type { Log } from '#contract';
import {
  decodeFrame,
  encodeFrame,
  gatherWrites,
  type EncodedFrame,
  type Frame,
  type Link,
  type LinkEvents,
  type SendOutcome,
} from '#protocol';
import { readFrameHead } from './frame-head.ts';
import type { EngineLimits } from './limits.ts';

/** Telemetry that clients may also send on the main socket. */
const TELEMETRY_PREFIXES = new Set(['OTLP', 'MTRC', 'LOGS']);

export class SocketLink implements Link {
  readonly #socket: WebSocket;
  readonly #limits: EngineLimits;
  readonly #log: Log;
  readonly #gather: () => void;
  #isPaused = false;

  constructor(socket: WebSocket, stream: Socket, limits: EngineLimits, log: Log) {
    this.#socket = socket;
    this.#gather = gatherWrites(stream);
    this.#limits = limits;
    this.#log = log;
  }

  attach(events: LinkEvents): void {
    this.#socket.on('message', (data, isBinary) => this.#receive(data, isBinary, events));
    this.#socket.on('close', (code, reason) => events.closed(reason.toString() || `closed with ${code}`));
    this.#socket.on('error', (error) => this.#log.debug('a socket failed', { error: error.message }));
  }

  send(frame: Frame, encoded?: EncodedFrame): SendOutcome {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return 'closed';

    const json = encoded ?? encodeFrame(frame);
    if (json === undefined) return 'not-json';
    const text = typeof json === 'string' ? Buffer.from(json) : json;
    if (text.length > this.#limits.maxMessageBytes) return 'too-large';
    const waiting = socket.bufferedAmount + text.length;
    if (waiting > this.#limits.maxOutboundBytes) return 'full';

    this.#gather();
    if (waiting > this.#limits.pauseOutboundBytes && !this.#isPaused) {
      this.#isPaused = true;
      socket.pause();
      socket.send(text, { binary: false }, () => this.#readAgain());
    } else {
      socket.send(text, { binary: false });
    }
    return 'sent';
  }

  get isBehind(): boolean {
    return this.#socket.bufferedAmount > this.#limits.pauseOutboundBytes / 8;
  }

  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  close(reason = ''): void {
    this.#socket.close(1001, reason);
    // A peer that does not read will not answer the close either.
    if (this.#socket.bufferedAmount > this.#limits.pauseOutboundBytes) this.#socket.terminate();
  }

  #readAgain(): void {
    this.#isPaused = false;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.resume();
  }

  #receive(data: RawData, isBinary: boolean, events: LinkEvents): void {
    const encoded = data as Buffer;
    if (isBinary && TELEMETRY_PREFIXES.has(encoded.toString('latin1', 0, 4))) return;
    if (encoded.length > this.#limits.maxMessageBytes) return events.oversized?.(readFrameHead(encoded));

    // Dropped: forwarded as text, these bytes would make the next peer disconnect.
    if (isBinary && !isUtf8(encoded)) return this.#drop('not UTF-8', encoded);
    const text = encoded.toString();
    if (text.trim() === '') return;
    const decoded = decodeFrame(text);
    if ('frame' in decoded) events.frame(decoded.frame, encoded);
    else this.#drop(decoded.problem, encoded);
  }

  #drop(problem: string, encoded: Buffer): void {
    this.#log.warn('dropped a message that is not a frame', { problem, bytes: encoded.length });
  }
}

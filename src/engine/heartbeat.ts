/**
 * Finds dead peers: pings every socket, and ends one that has been silent too long. Old clients never ping.
 *
 * Any bytes count as a sign of life, not only messages: one message may take longer than the limit, and a pong queues
 * behind it.
 * Silence is counted in heartbeats, not by the clock: after a suspend all peers would look dead.
 */
import type { Socket } from 'node:net';

import type { WebSocket } from 'ws';

interface Watched {
  stream: Socket;
  silentMs: number;
  bytesRead: number;
  unsentBytes: number;
}

/** While something is being sent, a pong may queue behind it: this much longer on the slowest supported line. */
const SLOWEST_BYTES_PER_MS = 64;
const LONGEST_EXTRA_MS = 300_000;

export class Heartbeat {
  readonly #watched = new Map<WebSocket, Watched>();
  readonly #idleMs: number;
  readonly #beatMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(options: { pingIntervalMs: number; idleMs: number }) {
    this.#idleMs = options.idleMs;
    this.#beatMs = options.pingIntervalMs;
    this.#timer = setInterval(() => this.#beat(), options.pingIntervalMs).unref();
  }

  watch(socket: WebSocket, stream: Socket): void {
    this.#watched.set(socket, { stream, silentMs: 0, bytesRead: stream.bytesRead, unsentBytes: 0 });
    socket.on('close', () => this.#watched.delete(socket));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    for (const [socket, peer] of this.#watched) {
      const { bytesRead } = peer.stream;
      const { bufferedAmount } = socket;
      const isAlive = bytesRead !== peer.bytesRead || bufferedAmount < peer.unsentBytes;
      peer.silentMs = isAlive ? 0 : peer.silentMs + this.#beatMs;
      peer.bytesRead = bytesRead;
      peer.unsentBytes = bufferedAmount;

      const patienceMs = this.#idleMs + Math.min(bufferedAmount / SLOWEST_BYTES_PER_MS, LONGEST_EXTRA_MS);
      if (peer.silentMs > patienceMs) socket.terminate();
      else if (socket.readyState === socket.OPEN) socket.ping();
    }
  }
}

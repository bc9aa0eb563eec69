/** Finds dead peers: pings every socket, and ends one that has been silent too long. Old clients never ping. */
import type { WebSocket } from 'ws';

export class Heartbeat {
  readonly #lastSeenMs = new Map<WebSocket, number>();
  readonly #idleMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(options: { pingIntervalMs: number; idleMs: number }) {
    this.#idleMs = options.idleMs;
    this.#timer = setInterval(() => this.#beat(), options.pingIntervalMs).unref();
  }

  watch(socket: WebSocket): void {
    const seen = () => this.#lastSeenMs.set(socket, Date.now());
    seen();
    socket.on('message', seen);
    socket.on('ping', seen);
    socket.on('pong', seen);
    socket.on('close', () => this.#lastSeenMs.delete(socket));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const now = Date.now();
    for (const [socket, lastSeenMs] of this.#lastSeenMs) {
      if (now - lastSeenMs > this.#idleMs) socket.terminate();
      else if (socket.readyState === socket.OPEN) socket.ping();
    }
  }
}

/** A raw peer: a bare WebSocket that sends the given frames and keeps those that it gets. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import { WebSocket, type ClientOptions } from 'ws';

const DEADLINE_MS = 30_000;

// oxlint-disable-next-line typescript/no-explicit-any -- frames are compared as they come
export type AnyFrame = Record<string, any>;

export class Peer implements Disposable {
  readonly socket: WebSocket;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  readonly #frames: AnyFrame[] = [];
  readonly #waiting = new Set<() => void>();

  /** Opens a connection and takes its greeting. */
  static async dial(url: string, options: ClientOptions = {}): Promise<Peer> {
    const peer = await Peer.open(url, options);
    await peer.next((frame) => frame.type === 'workerregistered');
    return peer;
  }

  /** Opens a connection that may not be greeted. */
  static async open(url: string, options: ClientOptions = {}): Promise<Peer> {
    const peer = new Peer(new WebSocket(url, { perMessageDeflate: false, ...options }));
    await once(peer.socket, 'open', { signal: AbortSignal.timeout(DEADLINE_MS) });
    return peer;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.#frames.push(JSON.parse((data as Buffer).toString()));
      for (const look of this.#waiting) look();
    });
    this.closed = new Promise((resolve) => socket.on('close', resolve));
  }

  /** Frames not taken yet. */
  get frames(): readonly AnyFrame[] {
    return this.#frames;
  }

  /** The socket below the WebSocket: the test frames the bytes that it writes here. */
  get raw(): NodeJS.WritableStream {
    return (this.socket as unknown as { _socket: NodeJS.WritableStream })._socket;
  }

  send(frame: AnyFrame): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** Takes the first frame that fits, waiting for it if need be. */
  next(fits: (frame: AnyFrame) => boolean, deadlineMs = DEADLINE_MS): Promise<AnyFrame> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`no such frame within ${deadlineMs} ms: ${String(fits)}`));
      }, deadlineMs);
      const look = () => {
        const index = this.#frames.findIndex(fits);
        if (index < 0) return;
        clearTimeout(late);
        this.#waiting.delete(look);
        resolve(this.#frames.splice(index, 1)[0]!);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** The result frame of a call; `more` goes into the call frame. */
  call(functionId: string, data: unknown = {}, more: AnyFrame = {}): Promise<AnyFrame> {
    const id: string = more.invocation_id ?? randomUUID();
    this.send({ type: 'invokefunction', invocation_id: id, function_id: functionId, data, ...more });
    return this.next((frame) => frame.type === 'invocationresult' && frame.invocation_id === id);
  }

  /** Registers functions and waits until the engine has handled them. */
  async register(...ids: string[]): Promise<void> {
    for (const id of ids) this.send({ type: 'registerfunction', id });
    await this.settled();
  }

  /** Resolves once the engine has handled everything sent before. */
  async settled(): Promise<void> {
    this.send({ type: 'ping' });
    await this.next((frame) => frame.type === 'pong');
  }

  /** Answers every call of a function from now on. */
  answer(functionId: string, result: (call: AnyFrame) => unknown): void {
    this.socket.on('message', (data) => {
      const frame: AnyFrame = JSON.parse((data as Buffer).toString());
      if (frame.type !== 'invokefunction' || frame.function_id !== functionId) return;
      this.send({ type: 'invocationresult', invocation_id: frame.invocation_id, result: result(frame) });
    });
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }
}

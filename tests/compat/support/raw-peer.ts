/** A peer that sends and receives raw frames. */
import { WebSocket, type ClientOptions } from 'ws';

import { PATIENCE_MS, within } from './waiting.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- frames are compared as they come
export type RawFrame = Record<string, any>;

type Wanted = (frame: RawFrame) => boolean;

export class RawPeer implements AsyncDisposable {
  readonly socket: WebSocket;
  /** Frames not taken yet, oldest first. */
  readonly inbox: RawFrame[] = [];
  readonly #waiting: { isWanted: Wanted; take(frame: RawFrame): void }[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.#receive(JSON.parse((data as Buffer).toString()) as RawFrame));
    socket.on('error', () => socket.terminate());
  }

  static async connect(url: string, options: ClientOptions = {}): Promise<RawPeer> {
    const socket = new WebSocket(url, options);
    const peer = new RawPeer(socket);
    await within(new Promise((open) => socket.once('open', open)), 'an open socket');
    return peer;
  }

  send(frame: RawFrame | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Calls and returns the whole result frame. */
  async call(function_id: string, data: unknown = {}, more: RawFrame = {}): Promise<RawFrame> {
    const invocation_id = crypto.randomUUID();
    this.send({ type: 'invokefunction', invocation_id, function_id, data, ...more });
    return this.next('invocationresult', (frame) => frame.invocation_id === invocation_id);
  }

  /** Takes the first frame of a type out of the inbox, or the next that comes. */
  next(type: string, isRight: Wanted = () => true): Promise<RawFrame> {
    const isWanted: Wanted = (frame) => frame.type === type && isRight(frame);
    const at = this.inbox.findIndex(isWanted);
    if (at >= 0) return Promise.resolve(this.inbox.splice(at, 1)[0]!);
    return within(new Promise((take) => this.#waiting.push({ isWanted, take })), `a frame "${type}"`);
  }

  /** Resolves with the close code. */
  closed(ms = PATIENCE_MS): Promise<number> {
    return within(new Promise((done) => this.socket.once('close', done)), 'the end of the socket', ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = this.closed();
    this.socket.terminate();
    await closed;
  }

  #receive(frame: RawFrame): void {
    const at = this.#waiting.findIndex(({ isWanted }) => isWanted(frame));
    if (at >= 0) this.#waiting.splice(at, 1)[0]!.take(frame);
    else this.inbox.push(frame);
  }
}

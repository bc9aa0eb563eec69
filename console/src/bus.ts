/**
 * A browser client of the bus: calls with deadline and cancel, channels to read, automatic reconnect.
 *
 * A page cannot send headers with a WebSocket, so a token is sent as a second subprotocol. A refused upgrade looks like
 * any other lost connection here: the page that shows the state has to ask over HTTP for the reason.
 */
import { readErrorBody, toErrorBody, type FailureFields } from '../../src/protocol/error-body.ts';
import type { CallEvent } from '../../src/protocol/call-event.ts';
import type { Frame, InvokeFrame, ResultFrame } from '../../src/protocol/frames.ts';

export type BusState = 'connecting' | 'open' | 'lost';

export interface BusOptions {
  /** Opens a socket to the bus, or to a channel when a path is given. */
  open(path: string, protocols: string[]): WebSocket;
  token?: string;
  onState?(state: BusState): void;
}

export interface CallOptions {
  namespace?: string;
  metadata?: Record<string, unknown>;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Receives the events of the call. */
  onEvent?: (event: CallEvent) => void;
}

export interface ContentRef {
  channel_id: string;
  access_key: string;
}

/** One end of a channel. */
export interface ChannelEnd extends ContentRef {
  direction: 'read' | 'write';
}

/** A call that failed, with all fields of its error. */
export class CallFailure extends Error {
  readonly fields: FailureFields;

  constructor(fields: FailureFields) {
    super(fields.message);
    this.fields = fields;
  }
}

interface Waiting {
  frame: InvokeFrame;
  resolve(result: unknown): void;
  reject(error: CallFailure): void;
  release(): void;
  onEvent?: CallOptions['onEvent'];
}

const DEFAULT_TIMEOUT_MS = 30_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 2_000;
const MAX_WAITING = 200;

export class BusClient {
  readonly #options: BusOptions;
  readonly #waiting = new Map<string, Waiting>();
  #socket: WebSocket | undefined;
  #retryMs = FIRST_RETRY_MS;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: BusOptions) {
    this.#options = options;
    this.#dial();
  }

  /** A call made while the connection is down waits for the next one, within its deadline. */
  call(functionId: string, payload: unknown = {}, options: CallOptions = {}): Promise<unknown> {
    const { namespace, metadata, timeoutMs = DEFAULT_TIMEOUT_MS, signal, onEvent } = options;
    const id = crypto.randomUUID();
    const frame: InvokeFrame = { type: 'invokefunction', invocation_id: id, function_id: functionId, data: payload };
    if (namespace !== undefined && namespace !== 'default') frame.namespace = namespace;
    if (metadata) frame.metadata = metadata;
    if (onEvent) frame.wants_events = true;
    if (this.#isClosed) return Promise.reject(failure('connection_closed', 'this connection was closed'));
    if (this.#waiting.size >= MAX_WAITING) {
      return Promise.reject(failure('too_many_calls', `${MAX_WAITING} calls wait for their answer already`));
    }

    return new Promise((resolve, reject) => {
      const stop = (why: CallFailure) => {
        this.#take(id)?.reject(why);
        this.#send({ type: 'cancelinvocation', invocation_id: id });
      };
      const timer = setTimeout(() => stop(failure('TIMEOUT', `no answer within ${timeoutMs} ms`)), timeoutMs);
      const onAbort = () => stop(failure('CANCELLED', 'cancelled from the console'));
      signal?.addEventListener('abort', onAbort);
      const release = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      this.#waiting.set(id, { frame, resolve, reject, release, onEvent });
      if (signal?.aborted) onAbort();
      else this.#send(frame);
    });
  }

  /** Reads at most `maxBytes` of a channel. */
  readChannel(ref: ContentRef, maxBytes: number): Promise<Uint8Array> {
    const socket = this.openChannel({ ...ref, direction: 'read' });
    const chunks: Uint8Array[] = [];
    let size = 0;
    return new Promise((resolve, reject) => {
      socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
        if (typeof data === 'string') {
          reject(failure('channel_failed', data));
          return socket.close();
        }
        chunks.push(new Uint8Array(data));
        size += data.byteLength;
        if (size >= maxBytes) socket.close();
      });
      socket.addEventListener('close', ({ wasClean }) => {
        if (wasClean || size >= maxBytes) resolve(join(chunks, Math.min(size, maxBytes)));
        else reject(failure('channel_failed', 'the channel broke off before its end'));
      });
    });
  }

  /** A socket whose binary messages are of type ArrayBuffer. Its `close` event reports why it did not open, too. */
  openChannel({ channel_id, access_key, direction }: ChannelEnd): WebSocket {
    const query = new URLSearchParams({ key: access_key, dir: direction });
    const socket = this.#options.open(`/ws/channels/${encodeURIComponent(channel_id)}?${query}`, []);
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('error', () => {});
    return socket;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#failAll('connection_closed', 'this connection was closed');
    this.#socket?.close();
  }

  #dial(): void {
    this.#options.onState?.('connecting');
    const socket = this.#options.open('/', protocolsFor(this.#options.token));
    this.#socket = socket;
    socket.addEventListener('open', () => this.#introduce());
    socket.addEventListener('message', ({ data }: MessageEvent<string>) => this.#receive(JSON.parse(data) as Frame));
    socket.addEventListener('close', () => this.#lose());
    // The close event that follows has the reason.
    socket.addEventListener('error', () => {});
  }

  #introduce(): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.#send({
      type: 'invokefunction',
      function_id: 'engine::workers::register',
      action: { type: 'void' },
      data: { name: 'console', description: 'The web console.', runtime: 'browser' },
    });
    for (const { frame } of this.#waiting.values()) this.#send(frame);
    this.#options.onState?.('open');
  }

  #receive(frame: Frame): void {
    if (frame.type === 'ping') this.#send({ type: 'pong' });
    if (frame.type === 'invocationevent') this.#waiting.get(frame.invocation_id)?.onEvent?.(frame.event);
    if (frame.type === 'invocationresult') this.#settle(frame);
  }

  #settle(frame: ResultFrame): void {
    const call = this.#take(frame.invocation_id);
    if (frame.error) call?.reject(new CallFailure(readErrorBody(toErrorBody(frame.error))));
    else call?.resolve(frame.result);
  }

  #lose(): void {
    if (this.#isClosed) return;
    this.#failAll('connection_lost', 'the connection to the engine was lost; the call may have run');
    this.#options.onState?.('lost');
    this.#retry = setTimeout(() => this.#dial(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
  }

  #send(frame: Frame): void {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(frame));
  }

  #failAll(code: string, message: string): void {
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(failure(code, message));
  }

  #take(id: string): Waiting | undefined {
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    call?.release();
    return call;
  }
}

function failure(code: string, message: string): CallFailure {
  return new CallFailure({ code, message });
}

/** The server picks the first: a browser requires an answer to the subprotocols it offers. */
function protocolsFor(token: string | undefined): string[] {
  if (token === undefined) return [];
  const bytes = String.fromCharCode(...new TextEncoder().encode(token));
  return ['workcell', `bearer.${btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`];
}

function join(chunks: Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, size - at), at);
    at += chunk.length;
  }
  return bytes;
}

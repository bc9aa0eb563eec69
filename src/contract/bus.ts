/** The bus as its users see it: call a function, move bytes through a channel. */
import {
  readErrorBody,
  type CallEvent,
  type Caller,
  type Change,
  type ChannelEnds,
  type ChannelRef,
  type ErrorBody,
} from '#protocol';

export type { CallEvent };

export interface CallOptions {
  /** How long to wait for the answer; then the call fails with code TIMEOUT. Default 30 000. */
  timeoutMs?: number;
  /** Gives up waiting, and tells the engine so where it listens for that. */
  signal?: AbortSignal;
  /** Asks the function to stop where the engine listens for that, and goes on waiting for its answer. */
  cancel?: AbortSignal;
  /** Which namespace to look the function up in. Default `default`. */
  namespace?: string;
  /** Handed to the handler beside the payload. */
  metadata?: unknown;
  traceparent?: string;
  baggage?: string;
  /** Takes a large result as an `EncodedObject`, for a door that writes its bytes; decoded when left out. */
  takesEncoded?: boolean;
  /** Asks for the events of the call, and takes each before its answer. */
  onEvent?: (event: CallEvent) => void;
  /** Asks what the call changes in files, and takes it before the answer, also before that of a failed call. */
  onChanges?: (changes: readonly Change[]) => void;
  /** In whose name the call is made. Of a peer outside the engine's process only the client and narrower grants are believed. */
  caller?: Caller;
  /** The call that this one is made for; the engine looks in whose name that is. */
  via?: string;
}

export interface ChannelPair {
  writer: ChannelRef;
  reader: ChannelRef;
}

export interface Bus extends ChannelEnds {
  /** Where the engine's pages are, where that is known. */
  readonly httpUrl?: string;
  call(functionId: string, payload?: unknown, options?: CallOptions): Promise<unknown>;
  createChannel(bufferSize?: number): Promise<ChannelPair>;
}

/** The same bus; what every call on it carries unless it says otherwise. Channels are still those of the bus itself. */
export function carrying(bus: Bus, carried: CallOptions): Bus {
  return {
    get httpUrl() {
      return bus.httpUrl;
    },
    call: (functionId, payload, options) => bus.call(functionId, payload, { ...carried, ...options }),
    createChannel: (bufferSize) => bus.createChannel(bufferSize),
    openReader: (ref) => bus.openReader(ref),
    openWriter: (ref) => bus.openWriter(ref),
  };
}

/** A call that did not succeed. `code` is the failure's own where the error text carries one. */
export class CallError extends Error {
  readonly functionId: string;
  /** The error as it stood on the wire. */
  readonly body: ErrorBody;
  readonly code: string;
  /** Fields of a coded failure beside code and message, such as `fix`. */
  readonly extra: Record<string, unknown>;

  constructor(functionId: string, body: ErrorBody) {
    const { code, message, ...extra } = readErrorBody(body);
    super(message);
    this.name = 'CallError';
    this.functionId = functionId;
    this.body = body;
    this.code = code;
    this.extra = extra;
  }
}

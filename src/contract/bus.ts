/** The bus as its users see it: call a function, stream bytes through a channel. */
import {
  readErrorBody,
  type CallEvent,
  type Caller,
  type Change,
  type ChannelEnds,
  type ChannelRef,
  type ErrorBody,
  type Question,
  type QuestionAnswer,
} from '#protocol';

export type { CallEvent };

/** Decision of a person of the caller, or undefined for no answer: then the call keeps waiting. */
export type Approval = Pick<QuestionAnswer, 'approved' | 'why'> | undefined;

export interface CallOptions {
  /** Timeout for the answer; then the call fails with code TIMEOUT. Default 30 000. */
  timeoutMs?: number;
  /** Stops waiting, and cancels the call if the engine supports that. */
  signal?: AbortSignal;
  /** Asks the function to stop if the engine supports that, and keeps waiting for its answer. */
  cancel?: AbortSignal;
  /** Namespace of the function. Default `default`. */
  namespace?: string;
  /** Passed to the handler beside the payload. */
  metadata?: unknown;
  traceparent?: string;
  baggage?: string;
  /** Accepts a large result as an `EncodedObject`, for a surface that writes its bytes; decoded when absent. */
  takesEncoded?: boolean;
  /** Asks for the events of the call; called with each before its answer. */
  onEvent?: (event: CallEvent) => void;
  /** Called with the file changes before the result or failure arrives. */
  onChanges?: (changes: readonly Change[]) => void;
  /** Called before the answer, if the function defines a text form and the call came through MCP or the CLI. */
  onText?: (text: string) => void;
  /** Called if a rule lets the caller's own person approve the call, or one that is made for it. */
  onQuestion?: ((question: Question) => Promise<Approval>) | undefined;
  /** The principal of the call. From a peer of another process only the client and narrower grants are used. */
  caller?: Caller;
  /** The parent call; the engine takes the principal from it. */
  via?: string;
}

export interface ChannelPair {
  writer: ChannelRef;
  reader: ChannelRef;
}

export interface Bus extends ChannelEnds {
  /** URL of the engine's pages, if known. */
  readonly httpUrl?: string;
  call(functionId: string, payload?: unknown, options?: CallOptions): Promise<unknown>;
  createChannel(bufferSize?: number): Promise<ChannelPair>;
}

/**
 * The same bus with defaults for every call. Channels are still those of the bus itself.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { carrying } from 'workcell/contract';
 *
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }] });
 * const controller = new AbortController();
 * const bus = carrying(cell, { timeoutMs: 5_000, signal: controller.signal });
 * console.log((await bus.call('coder::tree')).root.kind); // dir
 *
 * controller.abort();
 * const error = await bus.call('coder::tree').catch((thrown) => thrown);
 * console.log(error.code); // CANCELLED
 * await cell.close();
 * ```
 */
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

/**
 * A call that did not succeed. `code` is the failure's own if the error text has one.
 *
 * @example
 * ```js
 * import { CallError, createWorkcell } from 'workcell';
 *
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }] });
 * try {
 *   await cell.call('coder::read-file', { path: 'missing.md' });
 * } catch (error) {
 *   console.log(error instanceof CallError, error.functionId, error.code); // true coder::read-file C211
 * }
 * await cell.close();
 * ```
 */
export class CallError extends Error {
  readonly functionId: string;
  /** The error as received from the wire. */
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

/**
 * A connection to the bus from any process: calls functions, serves functions, reconnects.
 *
 * After a lost link it reconnects, replaces its old session and registers everything again. Calls
 * that were waiting fail at once: whether they ran is unknown, so the caller decides.
 */
import { hostname, platform, release } from 'node:os';

import { CallError, silentLog, type Bus, type CallOptions, type ChannelPair, type Grants, type Log } from '#contract';
import {
  ChannelRefSchema,
  FEATURE_CALLER,
  FEATURE_CANCEL,
  FEATURE_CHANGES,
  FEATURE_EVENTS,
  FEATURE_ON_BEHALF,
  type Caller,
  type ChannelEnds,
  type Dialer,
  type Frame,
  type FrameOf,
  type Link,
  type OnBehalf,
} from '#protocol';
import { z } from 'zod';

import { backoffMs } from './backoff.ts';
import { streamCall, type CallStream } from './call-stream.ts';
import { Calls } from './calls.ts';
import { Serving, type ServableWorker } from './serving.ts';
import { socketDialer, type SocketDialerOptions } from './socket-dialer.ts';

export interface ConnectOptions extends SocketDialerOptions {
  /** Name in worker lists. Default `<host name>:<pid>`. */
  name?: string;
  description?: string;
  /** Version of the program, in worker lists. */
  version?: string;
  /** Namespace in which this connection's functions are registered. */
  namespace?: string;
  isolation?: string;
  log?: Log;
}

const Introduced = z.object({ features: z.array(z.unknown()).optional() });
const ChannelPairSchema = z.object({ writer: ChannelRefSchema, reader: ChannelRefSchema });

/** Calls made while the link is down wait for the next one, up to this many. */
const MAX_WAITING_CALLS = 1_000;

/** Connects to the engine at a ws:// URL, or in this process through `engine.dialer()`. */
export async function connect(to: string | Dialer, options: ConnectOptions = {}): Promise<Connection> {
  const dialer = typeof to === 'string' ? socketDialer(to, options) : to;
  const connection = new Connection(dialer, options);
  await connection.open();
  return connection;
}

export class Connection implements Bus {
  readonly openReader: ChannelEnds['openReader'];
  readonly openWriter: ChannelEnds['openWriter'];
  readonly #dialer: Dialer;
  readonly #options: ConnectOptions;
  readonly #log: Log;
  readonly #calls: Calls;
  readonly #serving: Serving;
  #link: Link | undefined;
  #waitingCalls: FrameOf<'invokefunction'>[] = [];
  #identity: { workerId: string; reattachToken?: string } | undefined;
  #canCancel = false;
  /** Features that the engine announced itself; without them it may forward the fields of any peer. */
  #confirmed: ReadonlySet<unknown> = new Set();
  #redial: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(dialer: Dialer, options: ConnectOptions) {
    this.#dialer = dialer;
    this.#options = options;
    this.#log = options.log ?? silentLog;
    this.#calls = new Calls({
      cancel: (invocationId, options) => this.#cancel(invocationId, options),
      answer: (invocation_id, event) =>
        void this.#link?.send({ type: 'invocationevent', invocation_id, seq: 0, event }),
    });
    this.#serving = new Serving(this, this.#log);
    this.openReader = dialer.openReader.bind(dialer);
    this.openWriter = dialer.openWriter.bind(dialer);
  }

  get httpUrl(): string | undefined {
    return this.#dialer.httpUrl;
  }

  async open(): Promise<void> {
    const link = await this.#dialer.dial();
    if (this.#isClosed) return link.close('closed by the client');
    link.attach({ frame: (frame) => this.#take(frame), closed: (reason) => this.#lose(link, reason) });
    this.#link = link;
    this.#confirmed = new Set(this.#dialer.isInProcess ? [FEATURE_CALLER, FEATURE_EVENTS] : []);
    this.#introduce(link);
  }

  call(functionId: string, payload: unknown = {}, options: CallOptions = {}): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(closedError(functionId));
    const { frame, answer } = this.#calls.open(functionId, payload, options);
    if (this.#dialer.isInProcess && options.caller) frame.caller = options.caller;
    else if (options.caller && options.via === undefined) frame.on_behalf_of = behalfOf(options.caller);
    if (this.#confirmed.has(FEATURE_CALLER) && options.via !== undefined) frame.via = options.via;
    const outcome = this.#link?.send(frame) ?? this.#keepForLater(frame);
    if (outcome !== 'sent')
      this.#calls.fail(frame.invocation_id!, 'send_failed', `the call could not be sent: ${outcome}`);
    return answer;
  }

  /** The call as an async iterable of its events, with its result beside it. */
  stream(functionId: string, payload?: unknown, options?: CallOptions): CallStream {
    return streamCall(this, functionId, payload, options);
  }

  async createChannel(bufferSize?: number): Promise<ChannelPair> {
    const payload = bufferSize === undefined ? {} : { buffer_size: bufferSize };
    return ChannelPairSchema.parse(await this.call('engine::channels::create', payload));
  }

  /** Offers a worker's functions on this connection, now and after every reconnect. */
  serve(worker: ServableWorker): void {
    for (const frame of this.#serving.add(worker)) this.#link?.send(frame);
  }

  /** The engine's id for this connection; known after the engine's greeting. */
  get workerId(): string | undefined {
    return this.#identity?.workerId;
  }

  /** Ends the connection when the calls it serves have ended, and at the latest after `graceMs`. */
  async finish(graceMs: number): Promise<void> {
    await this.#serving.idle(graceMs);
    this.close();
  }

  /** Ends the connection; calls in either direction are stopped. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#redial);
    this.#calls.failAll('connection_closed', 'this connection was closed');
    this.#serving.cancelAll('this connection was closed');
    this.#link?.close('closed by the client');
  }

  #take(frame: Frame): void {
    switch (frame.type) {
      case 'invocationresult':
        return this.#calls.settle(frame);
      case 'invocationevent':
        return this.#calls.event(frame);
      case 'invokefunction':
        return void this.#serving.take(this.#believed(frame), (reply) => this.#link?.send(reply));
      case 'cancelinvocation':
        return this.#serving.cancel(frame.invocation_id);
      case 'workerregistered':
        return this.#settleIn(frame);
      case 'registrationrejected':
        return this.#log.warn('the engine refused a registration', { code: frame.code, function: frame.function_id });
      case 'ping':
        return void this.#link?.send({ type: 'pong' });
      default:
        return;
    }
  }

  /** Drops these fields if the engine lacks the features: such an engine forwards them unchecked. */
  #believed(frame: FrameOf<'invokefunction'>): FrameOf<'invokefunction'> {
    const isKnown = this.#confirmed.has(FEATURE_CALLER);
    if (isKnown && this.#confirmed.has(FEATURE_EVENTS)) return frame;
    return { ...frame, ...(!isKnown && { caller: undefined, wants_changes: undefined }), wants_events: undefined };
  }

  #introduce(link: Link): void {
    if (this.#identity) {
      const { workerId, reattachToken } = this.#identity;
      link.send({ type: 'reattach', previous_worker_id: workerId, reattach_token: reattachToken });
    }
    this.#introduceSelf(link);
    for (const frame of this.#serving.registrations()) link.send(frame);
    for (const frame of this.#waitingCalls.splice(0)) if (this.#calls.isWaiting(frame.invocation_id!)) link.send(frame);
  }

  /** Not awaited here; the answer lists the features of the engine. */
  #introduceSelf(link: Link): void {
    const { frame, answer } = this.#calls.open('engine::workers::register', this.#introduction(), {});
    link.send(frame);
    answer.then(
      (reply) => {
        const { features } = Introduced.safeParse(reply).data ?? {};
        if (this.#link === link && features) this.#confirmed = new Set(features);
        if (!features?.includes(FEATURE_ON_BEHALF)) this.#log.debug('engine lacks feature on_behalf');
      },
      (error: unknown) => this.#log.debug('engine::workers::register failed', { error: String(error) }),
    );
  }

  #introduction(): Record<string, unknown> {
    const { name = `${hostname()}:${process.pid}`, description, version, namespace, isolation } = this.#options;
    return {
      name,
      description,
      runtime: 'node',
      version,
      os: `${platform()} ${release()}`,
      pid: process.pid,
      isolation: isolation ?? process.env.III_ISOLATION ?? null,
      telemetry: { language: 'typescript', framework: 'workcell' },
      features: [FEATURE_CANCEL, FEATURE_CALLER, FEATURE_CHANGES, FEATURE_EVENTS, FEATURE_ON_BEHALF],
      ...(namespace === undefined ? {} : { namespace }),
    };
  }

  #settleIn(frame: FrameOf<'workerregistered'>): void {
    this.#identity = { workerId: frame.worker_id, reattachToken: frame.reattach_token ?? undefined };
    this.#canCancel = frame.features?.includes(FEATURE_CANCEL) ?? false;
  }

  #cancel(invocationId: string, options: { wait: true } | undefined): void {
    if (this.#canCancel) this.#link?.send({ type: 'cancelinvocation', invocation_id: invocationId, ...options });
  }

  #keepForLater(frame: FrameOf<'invokefunction'>): 'sent' | 'full' | 'closed' {
    if (!this.#dialer.redials) return 'closed';
    if (this.#waitingCalls.length >= MAX_WAITING_CALLS) return 'full';
    this.#waitingCalls.push(frame);
    return 'sent';
  }

  #lose(link: Link, reason: string): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#calls.failAll('connection_lost', `the connection to the engine was lost (${reason}); the call may have run`);
    this.#serving.cancelAll('the connection to the engine was lost');
    if (this.#isClosed || !this.#dialer.redials) return;
    this.#log.warn('lost the engine, dialling again', { reason });
    this.#dialAgain(0);
  }

  #dialAgain(attempt: number): void {
    this.#redial = setTimeout(() => {
      this.open().then(
        () => this.#log.info('the engine is back; registered again', { attempts: attempt + 1 }),
        () => {
          if (!this.#isClosed) this.#dialAgain(attempt + 1);
        },
      );
    }, backoffMs(attempt));
  }
}

/** The part of a principal that an engine accepts from a remote peer. */
function behalfOf({ client, grants }: Caller & { grants?: Grants }): OnBehalf {
  return { client, only: grants?.only?.slice(), read_only: grants?.isReadOnly };
}

function closedError(functionId: string): CallError {
  return new CallError(functionId, { code: 'connection_closed', message: 'this connection was closed' });
}

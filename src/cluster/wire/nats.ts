/**
 * The connection to NATS: the only file that knows its client.
 *
 * Nothing is published while it is down, since the client drops its buffer when it dials again. A callback never
 * throws into the client: that would end its reader while it still reports to be connected.
 */
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';

import { ConfigError, type Log } from '#contract';
import { FIRST_CONNECT_MS, LEAST_SERVER_PAYLOAD } from '../limits.ts';
import type { ClusterSettings } from '../settings.ts';
import { readSecret, tlsOf } from './files.ts';

export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Whether the server reports that there is no subscriber. */
  readonly isUnheard: boolean;
  respond(data?: Uint8Array): void;
}

export interface WireEvents {
  up(wasDownMs: number): void;
  down(): void;
}

/** The subject of a request has no subscriber. */
export class NothingListens extends Error {}
/** The user of this node may not send the request. */
export class NotPermitted extends Error {}

const REDIAL_MS = 200;

export class Wire {
  /** Counts connections. */
  connections = 0;
  isUp = false;
  /** Why the last dial failed, such as a certificate that does not verify. */
  whyDown: string | undefined;
  readonly #settings: ClusterSettings;
  readonly #log: Log;
  readonly #events: WireEvents;
  readonly #subscriptions: { subject: string; take: (message: Message) => void }[] = [];
  #nats: NatsConnection | undefined;
  #isUnheard = (_: unknown): boolean => false;
  #isForbidden = (_: unknown): boolean => false;
  #isClosed = false;
  #turnedAtMs = performance.now();

  constructor(settings: ClusterSettings, log: Log, events: WireEvents) {
    this.#settings = settings;
    this.#log = log;
    this.#events = events;
  }

  /** The server it is connected to. */
  get server(): string | undefined {
    return this.isUp ? this.#nats?.getServer() : undefined;
  }

  get serverVersion(): string {
    return this.#nats?.info?.version ?? 'unknown';
  }

  /** How long the connection has been up, or down. */
  get forMs(): number {
    return performance.now() - this.#turnedAtMs;
  }

  /**
   * Resolves once connected, or after a while without a connection: the client keeps dialling. Throws an error
   * that more dialling cannot fix.
   */
  async open(): Promise<void> {
    const client = await loadClient();
    const { connect, AuthorizationError, NoRespondersError, PermissionViolationError } = client;
    this.#isUnheard = (error) => error instanceof NoRespondersError;
    this.#isForbidden = (error) => error instanceof PermissionViolationError;
    const options = optionsOf(this.#settings, client);
    const dial = async (): Promise<void> => {
      while (!this.#isClosed) {
        try {
          return this.#adopt(await connect(options));
        } catch (error) {
          if (error instanceof AuthorizationError || error instanceof ConfigError) throw refused(error);
          this.whyDown = error instanceof Error ? error.message : String(error);
        }
        await new Promise((resolve) => setTimeout(resolve, REDIAL_MS).unref());
      }
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, FIRST_CONNECT_MS)));
    const dialled = dial();
    await Promise.race([dialled, late]).finally(() => clearTimeout(timer));
    const { servers } = this.#settings;
    if (!this.isUp) this.#log.warn('no NATS server answers yet; retrying', { servers, why: this.whyDown });
    dialled.catch((error: unknown) => this.#log.error('NATS refused this node', { why: String(error) }));
  }

  subscribe(subject: string, take: (message: Message) => void): void {
    const subscription = { subject, take };
    this.#subscriptions.push(subscription);
    if (this.#nats) this.#listen(this.#nats, subscription);
  }

  publish(subject: string, data?: Uint8Array, reply?: string): boolean {
    if (!this.isUp) return false;
    try {
      this.#nats!.publish(subject, data, reply === undefined ? undefined : { reply });
      return true;
    } catch (error) {
      this.#log.warn('a message to NATS was not published', { subject, why: String(error) });
      return false;
    }
  }

  /** Throws `NothingListens` or `NotPermitted`, or another error when no answer came in time. */
  async request(subject: string, data: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    if (!this.isUp) throw this.#notConnected();
    try {
      return (await this.#nats!.request(subject, data, { timeout: timeoutMs })).data;
    } catch (error) {
      const chain = [error, (error as Error).cause];
      if (chain.some(this.#isForbidden))
        throw new NotPermitted('the NATS user of this node lacks permission to publish; see workcell cluster config', {
          cause: error,
        });
      const isUnheard = chain.some(this.#isUnheard);
      throw isUnheard ? new NothingListens('no node subscribes to this subject', { cause: error }) : error;
    }
  }

  /** Milliseconds to the server and back. */
  async roundTrip(): Promise<number> {
    if (!this.isUp) throw this.#notConnected();
    return this.#nats!.rtt();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.isUp) await this.#nats!.flush().catch(() => {});
    this.isUp = false;
    await this.#nats?.close().catch(() => {});
  }

  #notConnected(): Error {
    return new Error(`not connected to NATS at ${this.#settings.servers.join(', ')}; start a server, or wait for it`);
  }

  #adopt(nats: NatsConnection): void {
    if (this.#isClosed) return void nats.close();
    const accepted = nats.info?.max_payload ?? 0;
    if (accepted < LEAST_SERVER_PAYLOAD) {
      void nats.close();
      throw new ConfigError(
        `the NATS server at ${nats.getServer()} accepts messages of ${accepted} bytes: set its max_payload to at least ${LEAST_SERVER_PAYLOAD}`,
      );
    }
    this.#nats = nats;
    for (const subscription of this.#subscriptions) this.#listen(nats, subscription);
    void this.#follow(nats);
    this.#up();
  }

  #listen(nats: NatsConnection, { subject, take }: { subject: string; take: (message: Message) => void }): void {
    nats.subscribe(subject, {
      callback: (error, message) => {
        if (error) return this.#log.warn('a subscription to NATS failed', { subject, why: error.message });
        try {
          const isUnheard = message.headers?.code === 503;
          const respond = (data?: Uint8Array) => void (this.isUp && message.respond(data));
          take({ subject: message.subject, data: message.data, isUnheard, respond });
        } catch (thrown) {
          this.#log.error('a message of the cluster was not handled', { subject: message.subject, error: thrown });
        }
      },
    });
  }

  async #follow(nats: NatsConnection): Promise<void> {
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') this.#down();
      if (status.type === 'reconnect') this.#up();
      if (status.type === 'error') this.#log.warn('NATS reports an error', { why: status.error.message });
    }
    this.#down();
    if (!this.#isClosed) this.#log.error('NATS ended the connection for good; restart this node', {});
  }

  #up(): void {
    if (this.isUp) return;
    const wasDownMs = this.forMs;
    this.isUp = true;
    this.#turnedAtMs = performance.now();
    this.connections++;
    this.#events.up(wasDownMs);
  }

  #down(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#turnedAtMs = performance.now();
    this.#events.down();
  }
}

export async function loadClient(): Promise<typeof import('@nats-io/transport-node')> {
  try {
    return await import('@nats-io/transport-node');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ConfigError(
      '--cluster needs the package @nats-io/transport-node, which is not installed: npm install @nats-io/transport-node@3.3.1',
    );
  }
}

type Authenticators = Pick<typeof import('@nats-io/transport-node'), 'credsAuthenticator' | 'nkeyAuthenticator'>;

function optionsOf(settings: ClusterSettings, by: Authenticators): ConnectionOptions {
  const { servers, node, credsFile, nkeyFile } = settings;
  const authenticator =
    credsFile !== undefined
      ? by.credsAuthenticator(readSecret('--cluster-creds', credsFile))
      : nkeyFile !== undefined
        ? by.nkeyAuthenticator(readSecret('--cluster-nkey', nkeyFile))
        : undefined;
  return {
    servers,
    name: node,
    ...(authenticator && { authenticator }),
    ...tlsOf(settings),
    inboxPrefix: `_INBOX.${node}`,
    noEcho: true,
    timeout: 2_000,
    // By default the client stops after ten dials and notices a hung server after four minutes.
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 50,
    pingInterval: 1_000,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
    // Otherwise each request creates two errors with stacks, in case it fails.
    noAsyncTraces: true,
  };
}

function refused(error: Error): ConfigError {
  if (error instanceof ConfigError) return error;
  return new ConfigError(
    `the NATS server refuses this node: ${error.message}; check --cluster-creds or --cluster-nkey`,
  );
}

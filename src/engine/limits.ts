/** Every cap of the engine in one table: nothing a peer sends makes a queue, list or buffer grow without bound. */
const MiB = 1024 * 1024;

export const defaultLimits = {
  /** Largest message accepted; a larger one is answered with `payload_too_large`. */
  maxMessageBytes: 64 * MiB,
  /** A frame above this size closes the socket: reading on would cost memory for nothing. */
  maxFrameBytes: 128 * MiB,
  maxSessions: 4096,
  /** Sockets whose telemetry is read, and dropped or sent on. */
  maxTelemetrySockets: 256,
  /** A larger message to `/otel` is not sent on. */
  maxTelemetryMessageBytes: 4 * MiB,
  /** Total of incomplete messages to `/otel` over all sockets; messages beyond it are dropped. */
  maxTelemetryBytes: 16 * MiB,
  /** A larger registration (schemas, metadata, config) is refused: the engine keeps it and lists show it. */
  maxRegistrationBytes: MiB / 4,
  maxFunctionsPerSession: 10_000,
  maxTriggersPerSession: 10_000,
  maxTriggerTypesPerSession: 1_000,
  /** Calls of one session that still wait for their answer. */
  maxCallsInFlight: 65_536,
  /** Unsent bytes towards a peer at which the engine stops reading from it. */
  pauseOutboundBytes: 8 * MiB,
  /** Unsent bytes towards a peer at which it counts as not reading: calls to it fail, a caller is dropped. */
  maxOutboundBytes: 192 * MiB,
  /** Deadline of a call without an answer; longer than any client waits. */
  callDeadlineMs: 3_600_000,
  /** Bytes of payloads and results kept while a console watches. */
  maxCallContentBytes: 16 * MiB,
  maxChannels: 10_000,
  /** Open channels per connection, so that one connection cannot use them all. */
  maxChannelsPerSession: 1_000,
  /** Lifetime of a channel of which one end never connected. */
  channelTtlMs: 300_000,
  /** Bytes waiting in one channel, whatever its message count allows. */
  maxChannelBytes: 16 * MiB,
  pingIntervalMs: 20_000,
  /** A peer silent for this long is disconnected. */
  idleMs: 60_000,
  /** A connection that has not sent its request headers by then is closed. */
  handshakeMs: 10_000,
};

export type EngineLimits = typeof defaultLimits;

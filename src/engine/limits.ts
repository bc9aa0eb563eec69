/** Every cap of the engine in one table: nothing a peer sends makes a queue, list or buffer grow without bound. */
const MiB = 1024 * 1024;

export interface EngineLimits {
  /** Largest message accepted; a larger one is answered with `payload_too_large`. */
  maxMessageBytes: number;
  /** A frame above this size closes the socket: reading on would cost memory for nothing. */
  maxFrameBytes: number;
  maxSessions: number;
  /** Sockets whose telemetry is read and dropped. */
  maxTelemetrySockets: number;
  /** A larger registration (schemas, metadata, config) is refused: the engine keeps it and lists show it. */
  maxRegistrationBytes: number;
  maxFunctionsPerSession: number;
  maxTriggersPerSession: number;
  maxTriggerTypesPerSession: number;
  /** Calls of one session that still wait for their answer. */
  maxCallsInFlight: number;
  /** Unsent bytes towards a peer at which the engine stops reading from it. */
  pauseOutboundBytes: number;
  /** Unsent bytes towards a peer at which it counts as not reading: calls to it fail, a caller is dropped. */
  maxOutboundBytes: number;
  /** Deadline of a call without an answer; longer than any client waits. */
  callDeadlineMs: number;
  /** Bytes of payloads and results kept while a console watches. */
  maxCallContentBytes: number;
  maxChannels: number;
  /** Open channels per connection, so that one connection cannot use them all. */
  maxChannelsPerSession: number;
  /** Lifetime of a channel of which one end never connected. */
  channelTtlMs: number;
  /** Bytes waiting in one channel, whatever its message count allows. */
  maxChannelBytes: number;
  pingIntervalMs: number;
  /** A peer silent for this long is disconnected. */
  idleMs: number;
  /** A connection that has not sent its request headers by then is closed. */
  handshakeMs: number;
}

export const defaultLimits: EngineLimits = {
  maxMessageBytes: 64 * MiB,
  maxFrameBytes: 128 * MiB,
  maxSessions: 4096,
  maxTelemetrySockets: 256,
  maxRegistrationBytes: MiB / 4,
  maxFunctionsPerSession: 10_000,
  maxTriggersPerSession: 10_000,
  maxTriggerTypesPerSession: 1_000,
  maxCallsInFlight: 65_536,
  pauseOutboundBytes: 8 * MiB,
  maxOutboundBytes: 192 * MiB,
  callDeadlineMs: 3_600_000,
  maxCallContentBytes: 16 * MiB,
  maxChannels: 10_000,
  maxChannelsPerSession: 1_000,
  channelTtlMs: 300_000,
  maxChannelBytes: 16 * MiB,
  pingIntervalMs: 20_000,
  idleMs: 60_000,
  handshakeMs: 10_000,
};

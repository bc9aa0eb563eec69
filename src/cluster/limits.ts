/** Every time and cap of the cluster in one table. */
const KiB = 1024;
const MiB = 1024 * KiB;

/** Interval of a node's heartbeat, its report, which is also sent at once when something in it changes. */
export const HEARTBEAT_MS = 1_000;
/** A peer without a report for this long is gone. */
export const LEASE_MS = 8_000;
/** Lists of nodes show for how long a peer is silent from here on. */
export const LATE_MS = 3_000;
export const TICK_MS = 500;
/** A node whose own timer fired later than this judges no peers: it was suspended itself. */
export const LATE_TICK_MS = 1_000;
/** A node whose own connection is down for this long treats every peer as gone. */
export const CUT_OFF_MS = 10_000;
/** A peer is gone when its subjects have no subscriber for this long, and it sent nothing meanwhile. */
export const NO_LISTENER_MS = 800;
export const SEND_AGAIN_AFTER_MS = 200;
/** Calls to a peer that was lost within this time report that it may come back. */
export const REMEMBER_LOST_MS = 300_000;
/** Lost nodes that are remembered by their id. */
export const MOST_LOST = 4_096;
/** A server may report missing subscribers while other nodes dial it again. */
export const JUST_CONNECTED_MS = 1_000;

export const ASK_TIMEOUT_MS = 1_500;
export const PIECE_TIMEOUT_MS = 10_000;
export const BLOCK_TIMEOUT_MS = 3_000;
/** Start waits this long for NATS, then continues without it. */
export const FIRST_CONNECT_MS = 10_000;

/** Larger frames are announced, and the receiver fetches them in pieces. */
export const INLINE_BYTES = 128 * KiB;
export const PIECE_BYTES = 512 * KiB;
/** A server that accepts less cannot carry a piece. */
export const LEAST_SERVER_PAYLOAD = PIECE_BYTES + 4 * KiB;
export const PIECES_AT_ONCE = 3;
export const BODIES_AT_ONCE = 16;
export const MAX_BODY_BYTES = 64 * MiB;
/** Bytes of announced bodies that wait to be fetched. */
export const MAX_OUTBOX_BYTES = 256 * MiB;
export const OUTBOX_MS = 60_000;

export const MAX_HEARTBEAT_BYTES = 8 * KiB;
export const MAX_PEERS = 4_096;
export const MAX_BLOCK_BYTES = 8 * MiB;
export const MAX_FUNCTIONS = 10_000;

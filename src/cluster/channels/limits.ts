/** Caps and times of channels between nodes. */
import { MAX_BODY_BYTES } from '../limits.ts';

/**
 * Bytes of items in one message. Servers and the client read 64 KiB at a time and copy each message that spans two
 * reads into new memory; with 256 KiB, collecting that took up to half of the processor time of a node.
 */
export const MESSAGE_BYTES = 16 * 1024;
/** Messages on their way: they and the queue of the channel are all that a slow reader makes a writer buffer. */
export const WINDOW = 64;
/** Credit is sent once this many more messages can be accepted than the source knows of. */
export const GRANT = WINDOW / 2;
/** Messages that are not acknowledged are sent again. */
export const RESEND_MS = 2_000;
/** Interval at which a node re-requests a channel end of another node; detects a lost owner. */
export const ASK_MS = 2_500;
/** Without an answer of the owner for this long, the stream is broken. */
export const PATIENCE_MS = 20_000;
/** Closes a stream end that got no poll for this long. */
export const IDLE_MS = 30_000;
export const NEAR_ITEMS = 64;
export const NEAR_BYTES = 4 * 1024 * 1024;
/** An item comes in as many messages as it needs, and is kept until it is whole. */
export const MAX_ITEM_BYTES = MAX_BODY_BYTES;

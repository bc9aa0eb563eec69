/** Caps and times of channels between nodes. */
export const BATCH_BYTES = 256 * 1024;
/** Batches on their way; they and the queue of the channel are all that a slow reader makes a writer buffer. */
export const WINDOW = 4;
/** The owner answers by then, also when it has nothing to say. */
export const HOLD_MS = 2_500;
/** A request without an answer by then is sent again. */
export const ANSWER_MS = 4_000;
export const RETRY_MS = 250;
/** Without an answer for this long the stream is broken. */
export const PATIENCE_MS = 20_000;
/** An end that nothing asks for any more is closed. */
export const IDLE_MS = 30_000;
export const NEAR_ITEMS = 64;
export const NEAR_BYTES = 4 * 1024 * 1024;

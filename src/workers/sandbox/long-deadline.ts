/**
 * Deadline for calls with limits of their own, such as a timeout in the request or a download: the general one would
 * cut them.
 */
export const LONG_CALL_MS = 24 * 3_600_000;

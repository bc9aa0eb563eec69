/**
 * Deadline for calls with limits of their own, such as a timeout in the request or a download, which the general
 * deadline would cut short.
 */
export const LONG_CALL_MS = 24 * 3_600_000;

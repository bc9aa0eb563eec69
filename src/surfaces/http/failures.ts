/** A failed call as an HTTP answer: the status that the worker declared for the code, the code in the body. */
import type { ContentfulStatusCode } from 'hono/utils/http-status';

import { CallError, type CatalogueEntry, type ErrorSummary } from '#contract';

export interface HttpFailure {
  status: ContentfulStatusCode;
  body: { error: { code: string; message: string } };
}

/** Codes of this side of the bus, which no worker declares. */
const CLIENT_STATUS: Record<string, number> = {
  TIMEOUT: 504,
  CANCELLED: 499,
  connection_lost: 503,
  connection_closed: 503,
  send_failed: 503,
  content_too_large: 413,
  content_incomplete: 502,
};

export function httpFailure(
  error: CallError,
  entry: CatalogueEntry | undefined,
  busErrors: ErrorSummary[],
): HttpFailure {
  const { code, message, extra } = error;
  const declared = [...(entry?.errors ?? []), ...busErrors].find((row) => row.code === code);
  const status = declared?.http ?? CLIENT_STATUS[code] ?? 500;
  return { status: status as ContentfulStatusCode, body: { error: { code, message, ...extra } } };
}

export function badRequest(code: string, message: string, status: ContentfulStatusCode = 400): HttpFailure {
  return { status, body: { error: { code, message } } };
}

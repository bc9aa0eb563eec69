/**
 * The HTTP app: every function on the bus as a POST, and pages made from the catalogue.
 *
 * It reads the catalogue only, so a worker in another language is reachable the same way.
 */
import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import { z } from 'zod';

import {
  CallError,
  isMap,
  MetricSchema,
  readCatalogue,
  silentLog,
  boundTo,
  CHANGE_HEADER,
  throughDoor,
  withClient,
  withContent,
  type Bus,
  type CallOptions,
  type CatalogueEntry,
  type ErrorSummary,
  type Log,
  type Principal,
} from '#contract';
import { EncodedObject, fromUrlPath, toUrlPath } from '#protocol';
import { openConsole } from '#surfaces/console';
import { referencePages, toHtml, type Page, type WorkerErrors } from '#surfaces/reference';
import { EVENT_STREAM, eventStream } from './event-stream.ts';
import { badRequest, httpFailure, type HttpFailure } from './failures.ts';
import { homePage } from './home-page.ts';
import { openApiDocument } from './openapi.ts';
import { PROMETHEUS_TYPE, prometheusText } from './prometheus-text.ts';
import { readJsonBody } from './request-body.ts';

export interface HttpAppOptions {
  version: string;
  /** Codes that any call may fail with. */
  busErrors: ErrorSummary[];
  /** Codes of every worker of this build, for the page about errors. */
  workerErrors?: WorkerErrors[];
  maxBodyBytes: number;
  /** Result for `/readyz`; always ready when absent. */
  isReady?: () => boolean;
  /** Handles requests to `/mcp`. */
  mcp?: (request: Request, from: { address: string; principal?: Principal }) => Promise<Response>;
  log?: Log;
}

const MetricsReply = z.object({ metrics: z.array(MetricSchema) });
const DEFAULT_TIMEOUT_MS = 300_000;
/** The largest file that is returned at once; read a larger one through a channel of the bus. */
const MAX_CONTENT_BYTES = 64 * 2 ** 20;
const HTML_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/** Set by the server for each request; without it, as in a direct call of the app, the app's own principal is used. */
type NodeRequest = { Bindings: Partial<HttpBindings> & { principal?: Principal } };
/** The program that a request names: `curl/8.5.0`. */
const USER_AGENT = /^([^\s/]+)(?:\/(\S+))?/;

export function httpApp(bus: Bus, options: HttpAppOptions): Hono<NodeRequest> {
  const app = new Hono<NodeRequest>();
  app.get('/healthz', (c) => c.json({ status: 'ok', version: options.version }));
  app.get('/readyz', (c) => {
    const isReady = options.isReady?.() ?? true;
    return c.json({ status: isReady ? 'ready' : 'not ready' }, isReady ? 200 : 503);
  });
  const built = openConsole();
  app.get('/', (c) => built?.page(c.req.url) ?? c.body(homePage(options.version), 200, HTML_HEADERS));
  app.get('/console/*', (c) => {
    const name = c.req.path.slice('/console/'.length);
    return built?.asset(name, c.req.header('Accept-Encoding')) ?? c.notFound();
  });
  app.get('/openapi.json', async (c) => c.json(openApiDocument(await readCatalogue(bus), options.version)));
  app.get('/functions', async (c) => {
    const catalogue = await readCatalogue(bus);
    return c.json({
      functions: catalogue.map((entry) => ({ id: entry.id, summary: entry.summary, path: pathOf(entry) })),
    });
  });
  app.post('/functions/*', (c) => callFunction(c, bus, options));
  app.all('/functions/*', (c) => {
    c.header('Allow', 'POST');
    return answer(c, badRequest('method_not_allowed', 'call a function with POST and its request as JSON', 405));
  });
  serveMetrics(app, bus);
  const { mcp } = options;
  if (mcp) {
    app.all('/mcp', (c) => {
      const address = c.env.incoming?.socket.remoteAddress ?? 'unknown';
      return mcp(c.req.raw, { address, principal: c.env.principal });
    });
  }
  serveReference(app, bus, options);
  app.notFound((c) =>
    answer(
      c,
      badRequest(
        'path_not_found',
        'the paths are /functions, /mcp, /openapi.json, /docs, /metrics, /healthz and /readyz',
        404,
      ),
    ),
  );
  app.onError((error, c) => {
    if (error instanceof CallError) return answer(c, httpFailure(error, undefined, options.busErrors));
    (options.log ?? silentLog).error('a bug in the HTTP surface', { path: c.req.path, stack: error.stack });
    return answer(c, badRequest('internal_error', 'a bug in the HTTP surface', 500));
  });
  return app;
}

function serveMetrics(app: Hono<NodeRequest>, bus: Bus): void {
  app.get('/metrics', async (c) => {
    const reply = await bus.call('engine::metrics', {}, { caller: callerOf(c) });
    const { metrics } = MetricsReply.parse(reply);
    return c.body(prometheusText(metrics), 200, { 'Content-Type': PROMETHEUS_TYPE });
  });
}

function serveReference(app: Hono<NodeRequest>, bus: Bus, options: HttpAppOptions): void {
  app.get('/docs', (c) => c.redirect('/docs/errors'));
  app.get('/docs/:page', async (c) => {
    const pages = referencePages(await readCatalogue(bus, { includeInternal: true }), {
      busErrors: options.busErrors,
      workerErrors: options.workerErrors ?? [],
    });
    const page = pages.find(({ slug }) => slug === c.req.param('page'));
    if (page) return c.body(toHtml(page, pageLinks(pages)), 200, HTML_HEADERS);
    return answer(
      c,
      badRequest('page_not_found', `the pages are ${pages.map(({ slug }) => `/docs/${slug}`).join(', ')}`, 404),
    );
  });
}

async function callFunction(c: Context<NodeRequest>, bus: Bus, options: HttpAppOptions): Promise<Response> {
  const functionId = fromUrlPath(c.req.path.slice('/functions/'.length));
  if (functionId === undefined) return answer(c, badRequest('function_not_found', 'the path names no function', 404));

  const timeoutMs = Number(c.req.query('timeout_ms') ?? DEFAULT_TIMEOUT_MS);
  if (!(timeoutMs > 0)) return answer(c, badRequest('invalid_timeout', 'timeout_ms must be a number above 0'));
  const body = await readJsonBody(c.req.raw, options.maxBodyBytes);
  if ('problem' in body) return answer(c, body.problem);

  const namespace = c.req.query('namespace');
  const change = c.req.header(CHANGE_HEADER);
  const call = async (onEvent?: CallOptions['onEvent'], signal = c.req.raw.signal): Promise<Called> => {
    try {
      const result = await bus.call(functionId, body.value, {
        caller: callerOf(c),
        timeoutMs,
        namespace,
        signal,
        takesEncoded: true,
        metadata: { ...throughDoor('http'), ...(change && boundTo(change)) },
        traceparent: c.req.header('traceparent'),
        baggage: c.req.header('baggage'),
        onEvent,
        onChanges: onEvent && ((changes) => onEvent({ type: 'changes', changes })),
      });
      return { result: await withContent(bus, result ?? null, { functionId, maxBytes: MAX_CONTENT_BYTES }) };
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      // Continues without the catalogue, so that the failure is still reported, such as that the server closes.
      const catalogue = await readCatalogue(bus, { includeInternal: true, namespace }).catch(() => []);
      const isMeant = (entry: { id: string; namespace: string }) =>
        entry.id === functionId && entry.namespace === (namespace ?? 'default');
      return { failure: httpFailure(error, catalogue.find(isMeant), options.busErrors) };
    }
  };
  if (c.req.header('Accept')?.includes(EVENT_STREAM)) {
    const isResumable = await takesSince(functionId, bus);
    if (isResumable) body.value = resumed(body.value, c.req.header('Last-Event-ID'));
    return eventStream(
      async (onEvent, signal) => {
        const called = await call(onEvent, signal);
        return 'failure' in called ? { error: called.failure.body } : called;
      },
      { isResumable },
    );
  }
  const called = await call();
  return 'failure' in called ? answer(c, called.failure) : answerResult(c, called.result);
}

/** True if the request of the function has a field `since`, so that a client can reconnect where it stopped. */
async function takesSince(functionId: string, bus: Bus): Promise<boolean> {
  const entries = await readCatalogue(bus, { includeInternal: true, prefix: functionId }).catch(() => []);
  const fields = entries.find(({ id }) => id === functionId)?.request?.properties;
  return isMap(fields) && 'since' in fields;
}

/** The request of a client that reconnects: `since` is the last id that it saw. */
function resumed(payload: unknown, lastId: string | undefined): unknown {
  if (lastId === undefined || !/^\d+$/.test(lastId) || !isMap(payload)) return payload;
  return { ...payload, since: Number(lastId) };
}

type Called = { result: unknown } | { failure: HttpFailure };

function callerOf(c: Context<NodeRequest>): Principal | undefined {
  const [, name, version = ''] = USER_AGENT.exec(c.req.header('User-Agent') ?? '') ?? [];
  const { principal } = { ...c.env };
  return principal && withClient(principal, name === undefined ? undefined : { name, version });
}

function answerResult(c: Context, result: unknown): Response {
  if (!(result instanceof EncodedObject)) return c.json(result);

  const parts = result.parts();
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  // A stream is not copied, unlike one large body.
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(length) };
  return c.body(ReadableStream.from(parts), 200, headers);
}

function pathOf({ id, namespace }: CatalogueEntry): string {
  const query = namespace === 'default' ? '' : `?${new URLSearchParams({ namespace })}`;
  return `/functions/${toUrlPath(id)}${query}`;
}

function answer(c: Context, failure: HttpFailure): Response {
  return c.json(failure.body, failure.status);
}

function pageLinks(pages: Page[]): { href: string; text: string }[] {
  const links = pages.map(({ slug, title }) => ({ href: `/docs/${encodeURIComponent(slug)}`, text: title }));
  return [{ href: '/', text: 'Workcell' }, ...links];
}

/** A small receiver of OTLP over HTTP, as JSON; or one that takes requests and never answers. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string } }[];
  status: { code: number; message?: string };
}

interface OtlpPoint {
  attributes: OtlpSpan['attributes'];
  asDouble?: number;
  count?: number;
  bucketCounts?: number[];
  explicitBounds?: number[];
}

export interface OtlpMetric {
  name: string;
  sum?: { dataPoints: OtlpPoint[]; isMonotonic: boolean };
  gauge?: { dataPoints: OtlpPoint[] };
  histogram?: { dataPoints: OtlpPoint[] };
}

export class Collector implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server;

  private constructor(answers: boolean) {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { url: path = '', headers } = request;
        this.received.push({ path, headers, body: Buffer.concat(parts).toString() });
        if (answers) response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
  }

  static async start({ answers = true } = {}): Promise<Collector> {
    const collector = new Collector(answers);
    await new Promise<void>((listening) => collector.#server.listen(0, '127.0.0.1', listening));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Spans of the server itself, without forwarded ones. */
  get spans(): OtlpSpan[] {
    return this.#bodies<{ resourceSpans: { scopeSpans: { spans?: OtlpSpan[] }[] }[] }>('/v1/traces')
      .flatMap(({ resourceSpans }) => resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans = [] }) => spans);
  }

  get metrics(): OtlpMetric[] {
    return this.#bodies<{ resourceMetrics: { scopeMetrics: { metrics?: OtlpMetric[] }[] }[] }>('/v1/metrics')
      .flatMap(({ resourceMetrics }) => resourceMetrics)
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics = [] }) => metrics);
  }

  #bodies<T>(path: string): T[] {
    return this.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as T);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

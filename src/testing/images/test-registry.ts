/** An image registry on loopback that misbehaves on request: demands a token, breaks off, stalls, or lies. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestRegistry extends AsyncDisposable {
  /** `127.0.0.1:port`, as in a reference. */
  readonly host: string;
  /** Every request in order: path and range. */
  readonly requests: string[];
  /** The `authorization` of each request. */
  readonly authorizations: (string | undefined)[];
}

export interface RegistryContent {
  /** Manifests by tag or digest. */
  manifests: Record<string, Buffer>;
  blobs: ReadonlyMap<string, Buffer>;
}

export interface RegistryFaults {
  /** Requests without this bearer token are sent to `/token`. */
  token?: string;
  /** Fault in the middle of a manifest. */
  manifest?: 'break-off' | 'stall';
  /** Blobs are answered only after this resolves. */
  blobsAfter?: Promise<void>;
  /** Fault of the n-th answer with a blob, from 0. */
  blob?: (answer: number) => BlobFault | undefined;
}

export type BlobFault =
  /** `when` resolves when the client has the expected bytes; `from` is the offset of the answer. */
  | { kind: 'break-off'; afterBytes: number; when?: (from: number) => Promise<unknown> }
  | { kind: 'stall'; afterBytes: number }
  | { kind: 'status'; status: number }
  | { kind: 'ignore-range' }
  | { kind: 'redirect'; to: string }
  | { kind: 'content'; content: Buffer };

export async function startRegistry(content: RegistryContent, faults: RegistryFaults = {}): Promise<TestRegistry> {
  const requests: string[] = [];
  const authorizations: (string | undefined)[] = [];
  let blobAnswers = 0;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://registry');
    requests.push([request.url, request.headers.range].filter(Boolean).join(' '));
    authorizations.push(request.headers.authorization);
    if (pathname === '/token') return answerJson(response, { token: faults.token });
    if (faults.token !== undefined && request.headers.authorization !== `Bearer ${faults.token}`) {
      const realm = `http://${request.headers.host}/token`;
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="test",scope="ignored"` });
      return response.end();
    }
    const [, kind, name = ''] = /\/(manifests|blobs)\/(.+)$/.exec(pathname) ?? [];
    const found = kind === 'manifests' ? content.manifests[name] : content.blobs.get(name);
    if (!found) return response.writeHead(404).end();
    if (kind === 'manifests') return answerManifest(response, found, faults.manifest);
    const fault = faults.blob?.(blobAnswers++);
    if (!faults.blobsAfter) return answerBlob(request, response, found, fault);
    return void faults.blobsAfter.then(() => answerBlob(request, response, found, fault));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    authorizations,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerJson(response: ServerResponse, body: unknown) {
  return response.end(JSON.stringify(body));
}

function answerManifest(response: ServerResponse, manifest: Buffer, fault: RegistryFaults['manifest']) {
  if (fault === undefined) return response.end(manifest);
  response.writeHead(200, { 'content-length': manifest.length });
  return response.write(manifest.subarray(0, 10), () => fault === 'break-off' && response.destroy());
}

function answerBlob(request: IncomingMessage, response: ServerResponse, blob: Buffer, fault?: BlobFault) {
  if (fault?.kind === 'status') return response.writeHead(fault.status).end();
  if (fault?.kind === 'redirect') return response.writeHead(307, { location: fault.to }).end();
  if (fault?.kind === 'content') return response.end(fault.content);

  const from =
    fault?.kind === 'ignore-range' ? 0 : Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const part = blob.subarray(from);
  const range = { 'content-range': `bytes ${from}-${blob.length - 1}/${blob.length}` };
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': part.length, ...(from > 0 ? range : {}) });
  if (fault?.kind === 'break-off') {
    const breakOff = async () => {
      await fault.when?.(from);
      response.destroy();
    };
    return response.write(part.subarray(0, fault.afterBytes), () => void breakOff());
  }
  if (fault?.kind === 'stall') return response.write(part.subarray(0, fault.afterBytes));
  return response.end(part);
}

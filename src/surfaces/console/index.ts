/**
 * Serves the built console.
 *
 * The build names assets by their content, so they may be cached for ever; the page that names them may not. Files are
 * read and compressed once, at start: no part of a request is ever used as a path.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export interface BuiltConsole {
  /** The page, for the URL that was requested. */
  page(url: string): Response;
  /**
   * An asset by the path below `/console/`, compressed if the client accepts that; undefined when there is no
   * such file.
   */
  asset(name: string, acceptEncoding?: string): Response | undefined;
}

interface Asset {
  bytes: Uint8Array<ArrayBuffer>;
  gzipped: Uint8Array<ArrayBuffer>;
}

const BUILT = fileURLToPath(new URL('../../console/', import.meta.url));
const PAGE = 'index.html';
/** Listed, and not with weight 0. */
const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Undefined if the console was not built, as when running from the sources. */
export function openConsole(folder = BUILT): BuiltConsole | undefined {
  const files = readFiles(folder);
  const page = files.get(PAGE)?.bytes;
  if (!page) return undefined;

  return {
    page: (url) => answer(page, { 'Content-Security-Policy': policyFor(url), 'Cache-Control': 'no-cache' }, '.html'),
    asset(name, acceptEncoding = '') {
      const file = name === PAGE ? undefined : files.get(name);
      if (!file) return undefined;
      const lifetime = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      const headers = { 'Cache-Control': lifetime, Vary: 'Accept-Encoding' };
      if (!TAKES_GZIP.test(acceptEncoding)) return answer(file.bytes, headers, extname(name));
      return answer(file.gzipped, { ...headers, 'Content-Encoding': 'gzip' }, extname(name));
    },
  };
}

function readFiles(folder: string): Map<string, Asset> {
  const files = new Map<string, Asset>();
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const bytes = new Uint8Array(readFileSync(path));
      const name = path.slice(join(folder, '/').length).replaceAll('\\', '/');
      files.set(name, { bytes, gzipped: new Uint8Array(gzipSync(bytes)) });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return files;
}

/** Not every browser accepts `'self'` for the WebSocket of the same host. */
function policyFor(url: string): string {
  const { host } = new URL(url);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ws://${host} wss://${host}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function answer(bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string>, extension: string): Response {
  const type = extension === '.html' ? 'text/html; charset=utf-8' : (TYPES[extension] ?? 'application/octet-stream');
  return new Response(bytes, {
    headers: {
      ...headers,
      'Content-Type': type,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    },
  });
}

/**
 * The built console as answers to requests.
 *
 * The build names assets by their content, so they may be kept for ever; the page that names them may not. Files are
 * read once, at the start: nothing a request says is ever part of a path.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface BuiltConsole {
  /** The page, for whoever asked for this URL. */
  page(url: string): Response;
  /** What the page loads, by the path below `/console/`; undefined when there is no such file. */
  asset(name: string): Response | undefined;
}

const BUILT = fileURLToPath(new URL('../../console/', import.meta.url));
const PAGE = 'index.html';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Undefined where the console was not built, as when running from the sources. */
export function openConsole(folder = BUILT): BuiltConsole | undefined {
  const files = readFiles(folder);
  const page = files.get(PAGE);
  if (!page) return undefined;

  return {
    page: (url) => answer(page, { 'Content-Security-Policy': policyFor(url), 'Cache-Control': 'no-cache' }, '.html'),
    asset(name) {
      const bytes = name === PAGE ? undefined : files.get(name);
      const lifetime = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      return bytes && answer(bytes, { 'Cache-Control': lifetime }, extname(name));
    },
  };
}

function readFiles(folder: string): Map<string, Uint8Array<ArrayBuffer>> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      files.set(path.slice(join(folder, '/').length).replaceAll('\\', '/'), new Uint8Array(readFileSync(path)));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return files;
}

/** Not every browser takes `'self'` for the WebSocket of the same host. */
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

/** The location: `#/<page>/<open item>?caller=<id>&node=<name>`. */
import { signal } from '@preact/signals';

export const PAGES = [
  'home',
  'calls',
  'changes',
  'jobs',
  'sandboxes',
  'workspace',
  'functions',
  'workers',
  'nodes',
] as const;
export type Page = (typeof PAGES)[number];

export interface Route {
  page: Page;
  /** The function, worker, job, sandbox, file or record that is open. */
  open?: string;
  /** Only rows of this caller. */
  caller?: string;
  /** Only rows of this node of the cluster. */
  node?: string;
}

export const route = signal<Route>(readHash(location.hash));

addEventListener('hashchange', () => (route.value = readHash(location.hash)));

function readHash(hash: string): Route {
  const [, page = '', open = '', query = ''] = /^#\/([^/?]*)\/?([^?]*)\??(.*)$/.exec(hash) ?? [];
  const known = PAGES.find((name) => name === page);
  if (!known) return { page: 'home' };
  const asked = new URLSearchParams(query);
  const filters = { caller: asked.get('caller') ?? undefined, node: asked.get('node') ?? undefined };
  return { page: known, ...(open !== '' && { open: decoded(open) }), ...given(filters) };
}

function given(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** An invalid link is used as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hashOf({ page, open, caller, node }: Route): string {
  const filters = new URLSearchParams(given({ caller: caller && addressable(caller), node })).toString();
  const query = filters === '' ? '' : `?${filters}`;
  return `#/${page}${open === undefined ? '' : `/${encodeURIComponent(addressable(open))}`}${query}`;
}

/** `open` after a round trip through a URL. Half a surrogate pair has no encoding, and a peer may send one. */
export function addressable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\u{fffd}');
}

export function goTo(to: Route): void {
  location.hash = hashOf(to);
}

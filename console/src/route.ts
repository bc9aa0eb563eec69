/** The location: `#/<page>/<open item>?caller=<id>`. */
import { signal } from '@preact/signals';

export const PAGES = ['home', 'calls', 'changes', 'jobs', 'sandboxes', 'workspace', 'functions', 'workers'] as const;
export type Page = (typeof PAGES)[number];

export interface Route {
  page: Page;
  /** The function, worker, job, sandbox, file or record that is open. */
  open?: string;
  /** Only what belongs to this caller. */
  caller?: string;
}

export const route = signal<Route>(readHash(location.hash));

addEventListener('hashchange', () => (route.value = readHash(location.hash)));

function readHash(hash: string): Route {
  const [, page = '', open = '', query = ''] = /^#\/([^/?]*)\/?([^?]*)\??(.*)$/.exec(hash) ?? [];
  const known = PAGES.find((name) => name === page);
  if (!known) return { page: 'home' };
  const caller = new URLSearchParams(query).get('caller');
  return { page: known, ...(open !== '' && { open: decoded(open) }), ...(caller !== null && { caller }) };
}

/** An invalid link is used as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hashOf({ page, open, caller }: Route): string {
  const query = caller === undefined ? '' : `?${new URLSearchParams({ caller: addressable(caller) }).toString()}`;
  return `#/${page}${open === undefined ? '' : `/${encodeURIComponent(addressable(open))}`}${query}`;
}

/** `open` after a round trip through a URL. Half a surrogate pair has no encoding, and a peer may send one. */
export function addressable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\u{fffd}');
}

export function goTo(to: Route): void {
  location.hash = hashOf(to);
}

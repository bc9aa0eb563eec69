/** The location: `#/<page>/<open item>`. */
import { signal } from '@preact/signals';

export const PAGES = ['functions', 'calls', 'workers', 'jobs', 'sandboxes', 'workspace', 'changes'] as const;
export type Page = (typeof PAGES)[number];

export interface Route {
  page: Page;
  /** The function, worker, job, sandbox, file or record that is open. */
  open?: string;
}

export const route = signal<Route>(readHash(location.hash));

addEventListener('hashchange', () => (route.value = readHash(location.hash)));

function readHash(hash: string): Route {
  const [, page = '', open = ''] = /^#\/([^/]*)\/?(.*)$/.exec(hash) ?? [];
  const known = PAGES.find((name) => name === page);
  if (!known) return { page: 'functions' };
  return open === '' ? { page: known } : { page: known, open: decoded(open) };
}

/** An invalid link is used as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hashOf({ page, open }: Route): string {
  return open === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(addressable(open))}`;
}

/** `open` after a round trip through a URL. Half a surrogate pair has no encoding, and a peer may send one. */
export function addressable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\u{fffd}');
}

export function goTo(to: Route): void {
  location.hash = hashOf(to);
}

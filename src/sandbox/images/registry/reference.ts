/** Image references: `[host[:port]/]path[:tag][@digest]`, most of it optional. */

export interface Reference {
  /** Host as in the name: `docker.io`, `localhost:5000`. */
  readonly host: string;
  readonly path: string;
  /** A digest if there is one, else a tag; with a digest the tag is ignored. */
  readonly version: string;
}

export class InvalidReference extends Error {
  override readonly name = 'InvalidReference';
}

const PATH = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const HOST = /^(?:\[[0-9a-fA-F:]+\]|[a-zA-Z0-9.-]+)(?::\d{1,5})?$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

const MAX_PATH_CHARS = 255;

export function parseReference(text: string): Reference {
  const [name = '', digest, ...more] = text.split('@');
  const { host, rest } = splitHost(name);
  const colon = rest.lastIndexOf(':');
  const tag = colon < 0 ? 'latest' : rest.slice(colon + 1);
  const plainPath = colon < 0 ? rest : rest.slice(0, colon);
  const path = host === 'docker.io' && !plainPath.includes('/') ? `library/${plainPath}` : plainPath;

  const isRight =
    more.length === 0 &&
    HOST.test(host) &&
    PATH.test(path) &&
    path.length <= MAX_PATH_CHARS &&
    TAG.test(tag) &&
    (digest === undefined || DIGEST.test(digest));
  if (!isRight)
    throw new InvalidReference(`"${text}" is not an image reference; expected host/path:tag or host/path@sha256:…`);
  return { host, path, version: digest ?? tag };
}

/** The canonical form, so that two spellings of one image are equal. */
export function spellReference({ host, path, version }: Reference): string {
  return `${host}/${path}${DIGEST.test(version) ? '@' : ':'}${version}`;
}

/** The first part counts as a host if it cannot be a path, or is `localhost`. */
function splitHost(name: string): { host: string; rest: string } {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isHost = first === 'localhost' || /[.:A-Z]/.test(first);
  if (!isHost) return { host: 'docker.io', rest: name };
  return { host: first === 'index.docker.io' ? 'docker.io' : first, rest: name.slice(slash + 1) };
}

/** One function id, converted for each surface: `coder::read-file`, `coder_read_file`, `coder/read-file`. */

const MAX_TOOL_NAME = 64;

/** The name of an MCP tool: letters, digits and underscores only, since clients drop anything else. */
export function toToolName(functionId: string): string {
  return functionId
    .replace(/::/g, '_')
    .replace(/[^A-Za-z0-9_]/g, '_')
    .slice(0, MAX_TOOL_NAME);
}

/** The tail of an HTTP path. */
export function toUrlPath(functionId: string): string {
  // Half a surrogate pair has no encoding, and a peer may register anything.
  return functionId
    .replace(/\p{Surrogate}/gu, '\u{fffd}')
    .split('::')
    .map(encodeURIComponent)
    .join('/');
}

/** Back from the tail of an HTTP path; undefined when it is not well encoded or has an empty segment. */
export function fromUrlPath(path: string): string | undefined {
  try {
    const segments = path.split('/').map(decodeURIComponent);
    return segments.includes('') ? undefined : segments.join('::');
  } catch {
    return undefined;
  }
}

/** The worker an id belongs to by convention: its first segment. */
export function workerSegment(functionId: string): string {
  return functionId.split('::', 1)[0] ?? functionId;
}

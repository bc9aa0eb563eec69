/**
 * Variables of this process that hold secrets of the server: no command gets them, whatever its worker passes on.
 *
 * There is one set for the whole process, like the environment.
 */

/** How this server joins its cluster: the servers, and the files with its secrets. No command needs to know them. */
const CLUSTER = ['WORKCELL_CLUSTER', 'WORKCELL_CLUSTER_CREDS', 'WORKCELL_CLUSTER_NKEY'];
const names = new Set(['WORKCELL_TOKEN', ...CLUSTER]);
/** Headers that authenticate the server to a collector of OpenTelemetry: for all signals, or for one. */
const OTLP_HEADERS = /^OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS$/;

/** Adds variables, such as those that hold the secrets of tokens. */
export function withhold(more: readonly string[]): void {
  for (const name of more) names.add(name);
}

export function isWithheld(name: string): boolean {
  return names.has(name) || OTLP_HEADERS.test(name);
}

/** The secrets in the variables of OTLP headers, `key=value,key=value` with values in percent encoding. */
export function otlpHeaderSecrets(env: NodeJS.ProcessEnv): string[] {
  const headers = Object.entries(env).flatMap(([name, value]) => (value && OTLP_HEADERS.test(name) ? [value] : []));
  return headers.flatMap((all) => [all, ...all.split(',').flatMap(valueSpellings)]);
}

/** As written and decoded, and without a scheme such as `Bearer` before it. */
function valueSpellings(header: string): string[] {
  const value = header.slice(header.indexOf('=') + 1).trim();
  const decoded = decodedIfValid(value);
  return [value, decoded, decoded.split(' ').at(-1)!];
}

function decodedIfValid(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Options of every command that talks to a running engine, and the connection they name. */
import type { Connection } from '#client';
import { CallError, silentLog } from '#contract';
import { UsageError, valueOption, type CommandInput, type OptionSpec } from './command.ts';

const DEFAULT_URL = 'ws://127.0.0.1:49134';

export const addressOptions: Record<string, OptionSpec> = {
  url: valueOption('URL', `The engine, default $WORKCELL_URL, $III_URL or ${DEFAULT_URL}.`),
  token: valueOption('TOKEN', 'Bearer token, default $WORKCELL_TOKEN.'),
};

/** The engine did not answer; the message names the next step. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

export function engineUrl(options: CommandInput['options']): string {
  // An empty variable counts as unset.
  const url = text(options.url) ?? (process.env.WORKCELL_URL || process.env.III_URL || DEFAULT_URL);
  if (URL.canParse(url) && /^(ws|http)s?:$/.test(new URL(url).protocol)) return url;
  throw new UsageError(`"${url}" is not an engine address; expected for example ${DEFAULT_URL}`);
}

export function engineToken(options: CommandInput['options']): string | undefined {
  return (text(options.token) ?? process.env.WORKCELL_TOKEN) || undefined;
}

/** Runs with a connection that is closed afterwards. */
export async function withEngine<T>(
  options: CommandInput['options'],
  use: (bus: Connection) => Promise<T>,
  token = engineToken(options),
): Promise<T> {
  const url = engineUrl(options);
  // Loaded here: a command that calls no engine needs no sockets.
  const { connect } = await import('#client');
  const bus = await connect(url, {
    name: `workcell-cli:${process.pid}`,
    token,
    log: silentLog,
  }).catch(explainUnreachable);
  try {
    return await use(bus);
  } finally {
    bus.close();
  }
}

/** Explains a refused connection; rethrows any other failure. */
export function explainUnreachable(error: unknown): never {
  if (!(error instanceof CallError)) throw error;
  const hint = error.message.includes('HTTP 401')
    ? 'It wants a token: give --token or set WORKCELL_TOKEN'
    : 'Is it running? Start one with: workcell start';
  throw new UnreachableError(`${error.message}. ${hint}`, { cause: error });
}

export function text(value: CommandInput['options'][string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Options of every command that talks to a running engine, and the connection they name. */
import { connect, type Connection } from '#client';
import { CallError, silentLog } from '#contract';
import type { CommandInput, OptionSpec } from './command.ts';

const DEFAULT_URL = 'ws://127.0.0.1:49134';

export const addressOptions: Record<string, OptionSpec> = {
  url: { type: 'string', value: 'URL', description: `The engine, default $III_URL or ${DEFAULT_URL}.` },
  token: { type: 'string', value: 'TOKEN', description: 'Bearer token, default $WORKCELL_TOKEN.' },
};

/** The engine did not answer; what to do about it is in the message. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

export function engineUrl(options: CommandInput['options']): string {
  return text(options.url) ?? process.env.III_URL ?? DEFAULT_URL;
}

export function engineToken(options: CommandInput['options']): string | undefined {
  return text(options.token) ?? process.env.WORKCELL_TOKEN;
}

/** Runs with a connection that is closed afterwards. */
export async function withEngine<T>(
  options: CommandInput['options'],
  use: (bus: Connection) => Promise<T>,
): Promise<T> {
  const url = engineUrl(options);
  const bus = await connect(url, {
    name: `workcell-cli:${process.pid}`,
    token: engineToken(options),
    log: silentLog,
  }).catch((error: unknown) => {
    if (!(error instanceof CallError)) throw error;
    throw new UnreachableError(`${error.message}. Is it running? Start one with: workcell start`);
  });
  try {
    return await use(bus);
  } finally {
    bus.close();
  }
}

export function text(value: CommandInput['options'][string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Address, port and tokens of `start`; beyond loopback it requires a token. */
import { ConfigError } from '#contract';
import { isLoopback, type AdmissionRules } from '#engine';
import { valueOption, type CommandInput, type OptionSpec } from './command.ts';
import { engineToken, text } from './engine-address.ts';

export const listenOptions: Record<string, OptionSpec> = {
  host: valueOption('ADDRESS', 'Address to listen on.', { default: '127.0.0.1' }),
  port: valueOption('PORT', 'Port for HTTP, MCP, WebSocket and console; 0 for a free one.', { default: '49134' }),
  token: valueOption('TOKEN', 'Bearer token that callers must send, default $WORKCELL_TOKEN.'),
  'allow-host': valueOption('NAME', 'Also accept requests for this host name.', { multiple: true }),
  'allow-origin': valueOption('ORIGIN', 'Also accept calls from pages of this origin.', { multiple: true }),
};

export function parseListenOptions(options: CommandInput['options']): AdmissionRules & { port: number } {
  const host = text(options.host) ?? '127.0.0.1';
  const given = text(options.port) ?? '';
  const port = /^\d+$/.test(given) ? Number(given) : NaN;
  const token = engineToken(options);
  if (!(port <= 65_535)) throw new ConfigError(`--port must be 0 to 65535 (got "${given}")`);
  if (!isLoopback(host) && !token) {
    throw new ConfigError(
      `--host ${host} is reachable from other machines, so a token is needed: give --token or set WORKCELL_TOKEN`,
    );
  }
  return {
    host,
    port,
    token,
    allowedHosts: list(options['allow-host']),
    allowedOrigins: list(options['allow-origin']),
  };
}

function list(value: CommandInput['options'][string]): string[] {
  return Array.isArray(value) ? value : [];
}

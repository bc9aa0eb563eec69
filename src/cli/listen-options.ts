/** Address, port, tokens and certificate of `start`; beyond loopback it requires a token, and TLS. */
import { readFileSync } from 'node:fs';

import { ConfigError } from '#contract';
import { isLoopback, type AdmissionRules } from '#engine';
import { valueOption, type CommandInput, type OptionSpec } from './command.ts';
import { engineToken, text } from './engine-address.ts';

export const listenOptions: Record<string, OptionSpec> = {
  host: valueOption('ADDRESS', 'Address to listen on.', { default: '127.0.0.1' }),
  port: valueOption('PORT', 'Port for HTTP, MCP, WebSocket and console; 0 for a free one.', { default: '49134' }),
  token: valueOption('TOKEN', 'Bearer token that callers must send, default $WORKCELL_TOKEN.'),
  'tls-cert': valueOption('FILE', 'Certificate chain in PEM: serve HTTPS and WSS. With --tls-key.'),
  'tls-key': valueOption('FILE', 'Private key of the certificate in PEM.'),
  insecure: { type: 'boolean', description: 'Listen beyond loopback without TLS: tokens travel in the clear.' },
  'allow-host': valueOption('NAME', 'Also accept requests for this host name.', { multiple: true }),
  'allow-origin': valueOption('ORIGIN', 'Also accept calls from pages of this origin.', { multiple: true }),
};

export interface Listening extends AdmissionRules {
  port: number;
  tls?: { cert: Buffer; key: Buffer };
}

/** `hasTokens`: whether callers may have tokens besides `--token`. */
export function parseListenOptions(options: CommandInput['options'], { hasTokens = false } = {}): Listening {
  const host = text(options.host) ?? '127.0.0.1';
  const given = text(options.port) ?? '';
  const port = /^\d+$/.test(given) ? Number(given) : NaN;
  const token = engineToken(options);
  if (!(port <= 65_535)) throw new ConfigError(`--port must be 0 to 65535 (got "${given}")`);
  const isOpen = !isLoopback(host);
  if (isOpen && !token && !hasTokens) {
    throw new ConfigError(
      `--host ${host} is reachable from other machines, so a token is needed: give --token or set WORKCELL_TOKEN`,
    );
  }
  const tls = readTls(options);
  if (isOpen && !tls && options.insecure !== true) {
    throw new ConfigError(
      `--host ${host} is reachable from other machines, so the token would travel in the clear: give --tls-cert and --tls-key, or --insecure behind a proxy that has them`,
    );
  }
  return {
    host,
    port,
    token,
    ...(tls && { tls }),
    allowedHosts: list(options['allow-host']),
    allowedOrigins: list(options['allow-origin']),
  };
}

function readTls(options: CommandInput['options']): Listening['tls'] {
  const certificate = text(options['tls-cert']);
  const key = text(options['tls-key']);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) throw new ConfigError('--tls-cert and --tls-key go together');
  return { cert: readPem(certificate, '--tls-cert'), key: readPem(key, '--tls-key') };
}

function readPem(path: string, option: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${option}: cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}

function list(value: CommandInput['options'][string]): string[] {
  return Array.isArray(value) ? value : [];
}

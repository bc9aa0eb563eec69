/** The files that the connection to NATS needs: keys and certificates. */
import { readFileSync } from 'node:fs';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

import type { ConnectionOptions } from '@nats-io/transport-node';

import { ConfigError } from '#contract';
import type { ClusterSettings } from '../settings.ts';

type Tls = Pick<ConnectionOptions, 'tls'>;

/**
 * Refuses plain text to a `tls://` server, also when the server offers nothing else. The client reads the files at each
 * dial, so that renewed certificates are used; it reports a missing file as a server that does not answer.
 */
export function tlsOf({ servers, caFile, certFile, keyFile }: ClusterSettings): Tls {
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new ConfigError('--cluster-cert and --cluster-key must be given together');
  if (caFile !== undefined) readSecret('--cluster-ca', caFile);
  if (certFile !== undefined) readSecret('--cluster-cert', certFile);
  if (keyFile !== undefined) readSecret('--cluster-key', keyFile);
  const given = { caFile, certFile, keyFile };
  const files = Object.fromEntries(Object.entries(given).filter(([, file]) => file !== undefined));
  const isWanted = servers.some((url) => url.startsWith('tls://')) || Object.keys(files).length > 0;
  return isWanted ? { tls: { ...files, ...identityOf(servers) } } : {};
}

/**
 * The client gives no name for a server that is dialled by its address, and Node then checks for `localhost`. Such a
 * server, also one that another server announced, must have a certificate of one of the configured hosts.
 */
function identityOf(servers: readonly string[]): object {
  const hosts = servers.map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ''));
  return {
    checkServerIdentity(name: string, certificate: PeerCertificate) {
      const problems = (name === 'localhost' ? hosts : [name]).map((host) => checkServerIdentity(host, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
  };
}

export function readSecret(option: string, file: string): Uint8Array {
  try {
    return Buffer.from(readFileSync(file, 'utf8').trim());
  } catch (error) {
    throw new ConfigError(`${option}: cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

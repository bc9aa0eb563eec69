/**
 * The certificate authority of the operator's network (`egress.ca_file`), offered to programs of a sandbox: one bundle
 * of the authorities that its image trusts and this one, and the environment variables that name the bundle.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';

import { ConfigError } from '#contract';
import type { FileSystem } from '#host';
import type { Env } from '../environment.ts';

/** Path in the guest. */
const BUNDLE = '/etc/ssl/workcell-ca-bundle.pem';

/** Bundle of the image: on Debian, Alpine and most others; on Fedora and its relatives. */
const OF_IMAGE = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'];

/** Ten times the size that distributions ship; a larger file is something else. */
const MOST_BYTES = 4 * 2 ** 20;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Variables of OpenSSL and so Python and Ruby, requests and pip, curl, git, Node and npm. */
export const authorityEnv: Env = [
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'NODE_EXTRA_CA_CERTS',
].map((name): Env[number] => [name, BUNDLE]);

/** The certificates of the file, without other contents such as a key. */
export function readAuthority(file: string): string {
  const certificates = textOf(file).match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new ConfigError(`iii-sandbox.egress.ca_file: ${file} holds no PEM certificate`);
  try {
    for (const pem of certificates) new X509Certificate(pem);
  } catch (error) {
    throw new ConfigError(`iii-sandbox.egress.ca_file: ${file} holds a broken certificate`, { cause: error });
  }
  return certificates.join('\n');
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code;
    throw new ConfigError(`iii-sandbox.egress.ca_file: ${file} cannot be read (${why})`, { cause: error });
  }
}

export async function offerAuthority(files: FileSystem, authority: string, signal: AbortSignal): Promise<void> {
  const known = (await authoritiesOf(files, signal)) ?? rootCertificates.join('\n');
  const bundle = Readable.from([Buffer.from(`${known.trimEnd()}\n${authority}\n`)]);
  await files.write(BUNDLE, bundle, { mode: 0o644, parents: true }, { signal });
}

/** Undefined for an image without authorities. */
async function authoritiesOf(files: FileSystem, signal: AbortSignal): Promise<string | undefined> {
  for (const path of OF_IMAGE) {
    const file = await files.read(path, { signal }).catch(() => undefined);
    if (!file) continue;
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of file.bytes) {
      bytes += piece.length;
      if (bytes > MOST_BYTES) break;
      pieces.push(piece);
    }
    file.close();
    if (bytes <= MOST_BYTES) return Buffer.concat(pieces).toString();
  }
  return undefined;
}

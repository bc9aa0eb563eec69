/** The version of a file: a hash of its content. */
import { hash, webcrypto } from 'node:crypto';

/** From this size on, hashing on another thread is worth its overhead. */
const LARGE_BYTES = 1 << 20;

export function versionOf(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes)}`;
}

/** Like `versionOf`, but hashes large content on another thread; a small one needs no turn of the event loop. */
export function versionAside(bytes: Uint8Array): string | Promise<string> {
  return bytes.length < LARGE_BYTES ? versionOf(bytes) : hashedAside(bytes);
}

async function hashedAside(bytes: Uint8Array): Promise<string> {
  const digest = await webcrypto.subtle.digest('SHA-256', bytes);
  return `sha256:${Buffer.from(digest).toString('hex')}`;
}

/** What stands for exactly this content of a file, and changes when the content does. */
import { hash, webcrypto } from 'node:crypto';

/** From here on another thread is worth the way there. */
const LARGE_BYTES = 1 << 20;

export function versionOf(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes)}`;
}

/** The same; of many bytes beside whatever else there is to do. */
export async function versionAside(bytes: Uint8Array): Promise<string> {
  if (bytes.length < LARGE_BYTES) return versionOf(bytes);
  const digest = await webcrypto.subtle.digest('SHA-256', bytes);
  return `sha256:${Buffer.from(digest).toString('hex')}`;
}

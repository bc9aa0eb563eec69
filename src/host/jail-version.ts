/** What stands for exactly this content of a file, and changes when the content does. */
import { hash } from 'node:crypto';

export function versionOf(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes)}`;
}

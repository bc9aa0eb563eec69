/**
 * Builds the images of the sandbox cases once for all files, beside the first tests, which need none.
 *
 * A file that needs one before it is there waits for it, and tells why when there cannot be one.
 */
import { whyNoSandbox } from '#testing';

export default function buildImages(): () => Promise<unknown> {
  const building = whyNoSandbox(['python', 'node']);
  return () => building;
}

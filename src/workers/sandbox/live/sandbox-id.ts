/** Parses ids of sandboxes: any common form of a UUID, returned in one. */
import { errors } from '../errors.ts';

const UUID = /^[0-9a-f]{32}$/;

/** Accepts `urn:uuid:`, braces, hyphens in the right positions and capitals. */
export function parseSandboxId(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1')
    .replace(/^(.{8})-(.{4})-(.{4})-(.{4})-(.{12})$/, '$1$2$3$4$5');
  if (!UUID.test(plain)) {
    throw errors.fail('S001', {
      problem: `sandbox_id must be the UUID that sandbox::create returned (got ${JSON.stringify(text)})`,
    });
  }
  return plain.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

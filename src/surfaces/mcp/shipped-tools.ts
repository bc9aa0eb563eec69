/**
 * The tools of a start without configuration, as the build lists them: a client gets them before the workers are
 * loaded.
 *
 * `scripts/list-tools.mjs` makes the file from the catalogue, so it equals the live list.
 */
import { readFileSync } from 'node:fs';

import type { Tool } from '@modelcontextprotocol/server';

export type ShippedTools = readonly Tool[];

/** Undefined in an unbuilt checkout, as in tests on the sources. */
export function shippedTools(): ShippedTools | undefined {
  try {
    return JSON.parse(readFileSync(new URL('./shipped-tools.json', import.meta.url), 'utf8')) as ShippedTools;
  } catch {
    return undefined;
  }
}

/**
 * Resolves a word on the command line to a sandbox: a whole id, the name it was created with, or a prefix of its id.
 *
 * A whole id is sent as it is, so that the worker reports why a sandbox ended. A name beats a prefix of an id; an
 * ambiguous word is refused with all candidates.
 */
import { z } from 'zod';

import type { Bus } from '#contract';
import { UsageError } from '../command.ts';

const WHOLE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const Listed = z.object({ sandboxes: z.array(z.object({ sandbox_id: z.string(), name: z.string().nullish() })) });
type Row = z.output<typeof Listed>['sandboxes'][number];

/** The ids, each once, in the order of the words. */
export async function findSandboxes(bus: Bus, words: readonly string[]): Promise<string[]> {
  const isLookedUp = words.some((word) => !WHOLE_ID.test(word));
  const { sandboxes } = isLookedUp ? Listed.parse(await bus.call('sandbox::list', {})) : { sandboxes: [] };
  return [...new Set(words.map((word) => (WHOLE_ID.test(word) ? word : theOne(word, sandboxes))))];
}

function theOne(word: string, rows: readonly Row[]): string {
  const named = rows.filter(({ name }) => name === word);
  const found = named.length > 0 ? named : rows.filter(({ sandbox_id }) => word !== '' && sandbox_id.startsWith(word));
  if (found.length === 1) return found[0]!.sandbox_id;

  if (found.length === 0) {
    throw new UsageError(`no sandbox has the name or id "${word}"; workcell sandbox list shows the running ones`);
  }
  const candidates = found.map(({ sandbox_id, name }) => (name ? `  ${sandbox_id}  ${name}` : `  ${sandbox_id}`));
  throw new UsageError(`"${word}" matches ${found.length} sandboxes; give more of the id:\n${candidates.join('\n')}`);
}

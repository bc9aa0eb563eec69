/** change::list: the changes over the workspace, those of other servers too. */
import { z } from 'zod';

import { wire } from '#contract';
import { change } from '../worker.ts';

const Row = z.object({
  change: z.string(),
  note: z.string(),
  began_at_ms: wire.uint64(),
  last_used_ms: wire.uint64(),
  files_changed: wire.uint64().describe('Entries in the layer; a removed one counts too.'),
  bytes: wire.uint64(),
  busy_commands: wire.uint32(),
  moved_underneath: wire
    .uint64()
    .nullable()
    .describe(
      'Files that other programs changed in the workspace since it began; null if there are too many to compare.',
    ),
  open_in: z.string().nullable().describe('`host`: a server has it mounted.'),
  state: z.enum(['open', 'waiting-for-approval']),
  is_stale: z.boolean().describe('Unused for longer than idle_days.'),
  is_over_limit: z
    .boolean()
    .describe('Larger than max_bytes: calls in it are refused, but change::diff, change::commit and change::discard.'),
});

export const list = change.defineFunction({
  id: 'change::list',
  summary: 'List the open changes over the workspace.',
  effect: 'read',
  permissions: ['fs.read'],
  request: z.object({}),
  response: z.object({ changes: z.array(Row) }),
  errors: ['W216'],
  examples: [{}],

  async handle(_request, { layers }, { signal }) {
    const all = await layers.list(signal);
    return {
      changes: all.map((layer) => ({
        change: layer.name,
        note: layer.note,
        began_at_ms: layer.beganAtMs,
        last_used_ms: layer.lastUsedMs,
        files_changed: layer.files,
        bytes: layer.bytes,
        busy_commands: layer.commands,
        moved_underneath: layer.movedUnderneath,
        open_in: layer.isOpen ? 'host' : null,
        state: layer.isWaiting ? ('waiting-for-approval' as const) : ('open' as const),
        is_stale: layer.isStale,
        is_over_limit: layer.isOverLimit,
      })),
    };
  },
});

/** A conflict as replies and failures have it. */
import { z } from 'zod';

import { wire } from '#contract';

const version = z.string().nullable();

export const ConflictRow = wire.named(
  'Conflict',
  z.object({
    path: z.string(),
    kind: z.enum([
      'both-changed',
      'deleted-underneath',
      'changed-underneath-deleted-here',
      'both-added',
      'kind-differs',
    ]),
    base_version: version.describe('When the change began; null if it was not there, or is not known.'),
    mine_version: version.describe('In the change; null if it was deleted.'),
    theirs_version: version.describe('In the workspace; null if it was deleted.'),
    mergeable: z.boolean().nullable().describe('null if the base is not known, or a side is not text.'),
    hunk: z.string().optional().describe('The first conflicting lines with markers, at most 4 KiB.'),
  }),
);

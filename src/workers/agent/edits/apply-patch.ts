/** Applies a patch through coder, which owns the format; absolute paths in the workspace become relative. */
import { z } from 'zod';

import type { CallScope } from '#contract';
import { inWorkspace } from '../paths.ts';
import type { AgentContext } from '../worker.ts';

const PatchReply = z.object({
  seq: z.int().optional(),
  results: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['added', 'modified', 'deleted', 'moved']),
      from: z.string().optional(),
      version: z.string().optional(),
      new_line_count: z.int().optional(),
      note: z.string().optional(),
      chunks: z.array(
        z.object({
          line: z.int(),
          level: z.string(),
          other_places: z.int().optional(),
          added: z.int(),
          removed: z.int(),
        }),
      ),
    }),
  ),
});
type PatchedFile = z.output<typeof PatchReply>['results'][number];

const MOST_PLACES = 5;

export async function applyPatch(patch: string, context: AgentContext, { bus }: CallScope) {
  const relative = patch.replaceAll(
    /^(\*\*\* (?:(?:Update|Add|Delete) File|Move to): *)(\/.*?)[ \t]*$/gm,
    (_, head: string, path: string) => head + inWorkspace(path, context),
  );
  const reply = PatchReply.parse(await bus.call('coder::apply-patch', { patch: relative }, { timeoutMs: 120_000 }));
  return {
    seq: reply.seq,
    files: reply.results.map(toFile),
    versions: reply.results.flatMap(({ path, version }) => (version === undefined ? [] : [{ path, version }])),
  };
}

function toFile({ path, kind, from, note, new_line_count, chunks }: PatchedFile) {
  const sum = (side: 'added' | 'removed') => chunks.reduce((total, chunk) => total + chunk[side], 0);
  const notes = [note, ...chunks.map(guessed)].filter((one) => one !== undefined);
  return {
    path,
    kind,
    ...(from !== undefined && { from }),
    places: chunks.slice(0, MOST_PLACES).map(({ line }) => line),
    count: Math.max(1, chunks.length),
    added: kind === 'added' ? (new_line_count ?? 0) : sum('added'),
    removed: sum('removed'),
    ...(notes.length > 0 && { note: [...new Set(notes)].join('; ') }),
  };
}

/** A warning for the caller: the chunk did not match exactly, or could have matched elsewhere. */
function guessed({ line, level, other_places }: PatchedFile['chunks'][number]): string | undefined {
  if (level !== 'exact') return `line ${line} matched but for ${level}`;
  return other_places === undefined ? undefined : `line ${line} is one of ${other_places + 1} places`;
}

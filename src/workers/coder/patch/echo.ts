/** Returns the new lines around one change, so that the caller can check it without reading the file. */
import type { Edit, PlacedChunk } from './place-chunks.ts';
import type { Source } from './source.ts';

export interface Echo {
  from_line: number;
  lines: string[];
}

const CONTEXT_LINES = 2;
const MAX_LINES = 12;
const MAX_LINE_CHARS = 200;

/** Shows the first chunk that matched inexactly or in several places, else the first chunk. */
export function echoOf(
  source: Source,
  { edits, placed }: { edits: readonly Edit[]; placed: readonly PlacedChunk[] },
): Echo | undefined {
  const unsure = placed.find(({ level, other_places }) => level !== 'exact' || other_places !== undefined);
  const shown = edits.findIndex(({ at }) => at + 1 >= (unsure?.line ?? 0));
  const edit = edits[shown];
  if (!edit) return undefined;

  const behindLast = shown === 0 ? 0 : edits[shown - 1]!.at + edits[shown - 1]!.removed;
  const first = Math.max(behindLast, edit.at - CONTEXT_LINES);
  const behind = edit.at + edit.removed;
  const last = Math.min(behind + CONTEXT_LINES, edits[shown + 1]?.at ?? source.length);
  const lines = [...oldLines(source, first, edit.at), ...edit.added, ...oldLines(source, behind, last)];
  if (lines.length === 0) return undefined;
  const moved = edits.slice(0, shown).reduce((sum, { added, removed }) => sum + added.length - removed, 0);
  return {
    from_line: first + moved + 1,
    lines: lines.slice(0, MAX_LINES).map((line) => line.slice(0, MAX_LINE_CHARS).toWellFormed()),
  };
}

function oldLines(source: Source, from: number, until: number): string[] {
  return Array.from({ length: until - from }, (_, i) => source.line(from + i));
}

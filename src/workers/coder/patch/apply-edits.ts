/** Builds the new text of a file: unchanged lines keep every byte, new lines get the most common line ending. */
import type { Edit } from './place-chunks.ts';
import type { Source } from './source.ts';

/** Edits must be in file order and must not overlap. */
export function applyEdits(source: Source, edits: readonly Edit[]): string {
  const pieces: string[] = [source.bom];
  let done = 0;
  const last = edits.at(-1);
  for (const edit of edits) {
    const { at, removed, added } = edit;
    pieces.push(source.text.slice(source.startOf(done), source.startOf(at)));
    // A last line without ending gets one if new lines follow it.
    if (added.length > 0 && at === source.length && at > done && !source.isClosed) pieces.push(source.ending);
    done = at + removed;
    const isOpen = edit.lacksNewline && edit === last && done === source.length;
    if (added.length > 0) pieces.push(added.join(source.ending), isOpen ? '' : source.ending);
  }
  pieces.push(source.text.slice(source.startOf(done)));
  return pieces.join('');
}

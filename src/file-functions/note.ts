/** A note for the caller about a change that was made. */
import { z } from 'zod';

export const noteField = z
  .string()
  .optional()
  .describe(
    'Note about the change: patterns without a match, hard links that keep the old content, or a former content that undo cannot restore.',
  );

/** The field with all notes; absent without one. */
export function withNotes(notes: readonly string[], { note }: { note?: string }): { note?: string } {
  const all = note === undefined ? notes : [...notes, note];
  return all.length > 0 ? { note: all.join('; ') } : {};
}

/** A change of many files has a note for each: the reply has the first ones and the number of the others. */
const MAX_NOTES = 5;

/** Collects the notes of a change for the field of its reply. */
export class Notes {
  readonly #first: string[] = [];
  #more = 0;

  readonly add = (note: string): void => {
    if (this.#first.length < MAX_NOTES) this.#first.push(note);
    else this.#more++;
  };

  get field(): { note?: string } {
    return withNotes(this.#first, this.#more > 0 ? { note: `${this.#more} more notes` } : {});
  }
}

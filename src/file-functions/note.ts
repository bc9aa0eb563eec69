/** A note for the caller about a change that was made. */
import { z } from 'zod';

export const noteField = z
  .string()
  .optional()
  .describe('Note about the change: patterns without a match, or hard links that keep the old content.');

/** The field with all notes; absent without one. */
export function withNotes(notes: readonly string[], { note }: { note?: string }): { note?: string } {
  const all = note === undefined ? notes : [...notes, note];
  return all.length > 0 ? { note: all.join('; ') } : {};
}

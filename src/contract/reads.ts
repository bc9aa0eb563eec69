/**
 * How calls of a function read in a list: one line from the request, and what a reply says beyond "ok".
 *
 * It is data, not code: the engine applies it while a call runs, and to functions of workers in any language.
 */
import { z } from 'zod';

import { EncodedObject } from '#protocol';
import { cleanText } from './clean-text.ts';

const NoteSchema = z.object({
  /** Field of the reply, as in `line`. The note applies if it is set: not absent, null, false, 0 or empty. */
  field: z.string(),
  /** The note applies only if the field has this value. */
  is: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
  /** Text of the outcome; `{}` stands for the value of the field. */
  says: z.string().max(64),
});

export const ReadsSchema = z.object({
  /** Fields of the request that distinguish its calls, in order; `files.path` is a field of the items of a list. */
  line: z.array(z.string()).max(8),
  /** What a reply says beyond success; the first that applies counts. */
  notes: z.array(NoteSchema).max(16).optional(),
});

export interface Reads {
  readonly line: readonly string[];
  readonly notes?: readonly Readonly<z.infer<typeof NoteSchema>>[];
}

/** Notes on a command that ran to its end. */
export const COMMAND_NOTES: NonNullable<Reads['notes']> = [
  { field: 'timed_out', says: 'timed out' },
  { field: 'exit_code', says: 'exit {}' },
  { field: 'exit_code', is: null, says: 'killed' },
  { field: 'stdout_truncated', says: 'cut' },
  { field: 'stderr_truncated', says: 'cut' },
];

/** A note on replies that leave something out. */
export const CUT_NOTES: NonNullable<Reads['notes']> = [{ field: 'truncated', says: 'cut' }];

const MAX_LINE = 200;
/** Items and words beyond these do not fit into a line. */
const MAX_WORDS = 40;
const MAX_NOTE = 40;

/** The line of a request, of bounded length and without characters that mislead; undefined if nothing is there. */
export function lineOf({ line }: Pick<Reads, 'line'>, request: unknown): string | undefined {
  const words = line.flatMap((field) => wordsAt(request, field.split('.')));
  if (words.length === 0) return undefined;
  const text = words.slice(0, MAX_WORDS).join(' ').replaceAll(/\s+/g, ' ');
  const shown = cleanText(text.slice(0, MAX_LINE + 1), MAX_LINE);
  return text.length > MAX_LINE || words.length > MAX_WORDS ? `${shown} …` : shown;
}

/** What the reply says beyond success. */
export function noteOf({ notes = [] }: Pick<Reads, 'notes'>, reply: unknown): string | undefined {
  for (const { field, is, says } of notes) {
    const value = field.split('.').reduce(fieldOf, reply);
    if (is === undefined ? Boolean(value) : value === is) {
      return cleanText(says.replace('{}', () => String(value).slice(0, MAX_NOTE)));
    }
  }
  return undefined;
}

/** A field of a reply; undefined for one that is encoded already. */
export function fieldOf(reply: unknown, field: string): unknown {
  if (reply instanceof EncodedObject) return reply.peek(field);
  return isObject(reply) && Object.hasOwn(reply, field) ? reply[field] : undefined;
}

function wordsAt(value: unknown, [name, ...rest]: string[]): string[] {
  if (Array.isArray(value)) return value.slice(0, MAX_WORDS).flatMap((item) => wordsAt(item, [name!, ...rest]));
  if (!isObject(value) || !Object.hasOwn(value, name!)) return [];
  const found = value[name!];
  if (rest.length > 0) return wordsAt(found, rest);
  return (Array.isArray(found) ? found.slice(0, MAX_WORDS + 1) : [found]).flatMap(wordOf);
}

function wordOf(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value.slice(0, MAX_LINE + 1)];
  return typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

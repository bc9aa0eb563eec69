/**
 * How calls of a function read in a list: one line from the request, and a note for replies that mean more than "ok".
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
  /** Notes for a reply beyond success; the first that applies counts. */
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
/** Most lines are one word of visible ASCII, such as a path: it needs no cleaning. At most `MAX_LINE` characters. */
const PLAIN = /^[!-~]{1,200}$/;
/** Items and words beyond these do not fit into a line. */
const MAX_WORDS = 40;
const MAX_NOTE = 40;

/** Makes the lines of requests, of bounded length and without misleading characters; undefined if nothing is there. */
export function lineReader({ line }: Pick<Reads, 'line'>): (request: unknown) => string | undefined {
  const paths = line.map((field) => field.split('.'));
  return (request) => lineAt(paths, request);
}

function lineAt(paths: readonly (readonly string[])[], request: unknown): string | undefined {
  const words: string[] = [];
  for (const path of paths) addWords(words, request, path, 0);
  if (words.length === 0) return undefined;
  const [word] = words;
  // Copied for the reason that `cleanText` copies.
  if (words.length === 1 && PLAIN.test(word!)) return Buffer.from(word!, 'latin1').toString('latin1');
  const text = words.slice(0, MAX_WORDS).join(' ').replaceAll(/\s+/g, ' ');
  const shown = cleanText(text.slice(0, MAX_LINE + 1), MAX_LINE);
  return text.length > MAX_LINE || words.length > MAX_WORDS ? `${shown} …` : shown;
}

/** The note on the reply, if one applies. */
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

/**
 * Adds the words at a path, from its name number `at` on. Runs for every call, so it allocates no intermediate lists.
 */
function addWords(words: string[], value: unknown, path: readonly string[], at: number): void {
  if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_WORDS)) addWords(words, item, path, at);
  } else if (isObject(value) && Object.hasOwn(value, path[at]!)) {
    const found = value[path[at]!];
    if (at + 1 < path.length) addWords(words, found, path, at + 1);
    else if (Array.isArray(found)) for (const item of found.slice(0, MAX_WORDS + 1)) addWord(words, item);
    else addWord(words, found);
  }
}

function addWord(words: string[], value: unknown): void {
  if (typeof value === 'number' || typeof value === 'boolean') words.push(String(value));
  else if (typeof value === 'string' && value !== '') words.push(value.slice(0, MAX_LINE + 1));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

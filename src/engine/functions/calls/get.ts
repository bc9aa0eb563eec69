/**
 * engine::calls::get: payload and result of one call, for the console.
 *
 * Every peer can see that a call was made; only a page of this server can see its content.
 */
import { z } from 'zod';

import { ChangeSchema, type Change } from '#protocol';
import { byPerson } from '../../calls/by-person.ts';
import { fail } from '../../errors.ts';
import { engine } from '../../worker.ts';

const flags = z.object({
  cut: z.boolean().describe('Whether long texts or lists are shortened.'),
  masked: z.boolean().describe('Whether values were replaced because they look like secrets.'),
});

export const callsGet = engine.defineFunction({
  id: 'engine::calls::get',
  summary: 'Show the payload and the result of one of the latest calls; for the console only.',
  details:
    'Kept only while a console watches (engine::calls::watch), in bounded memory: texts and lists are cut, and fields ' +
    'named like secrets and the values of environments are masked.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({ id: z.string().max(512).describe('The id of the call, as engine::calls::list gives it.') }),
  response: z.object({
    id: z.string(),
    payload: flags.extend({ value: z.unknown() }).nullable().describe('null when it came before a console watched.'),
    outcome: flags
      .extend({ kind: z.enum(['result', 'error']), value: z.unknown() })
      .nullable()
      .describe('null while it runs, and when it ended without an answer.'),
    changes: z
      .array(ChangeSchema)
      .nullable()
      .describe('Changed files with their diffs, at most 100; null when its worker reported no changes.'),
  }),
  errors: ['deserialization_error', 'console_only', 'NOT_FOUND'],
  examples: [],

  handle({ id }, { sessions, calls }, scope) {
    byPerson(sessions, scope);
    const content = calls.observed.contents.find(id);
    if (!content) throw fail('NOT_FOUND', { text: `nothing is kept of call ${id}` });
    const { payload, outcome, changes } = content;
    return {
      id,
      payload: payload ? asReply(payload) : null,
      outcome: outcome ? { kind: outcome.kind, ...asReply(outcome) } : null,
      changes: changes ? changesIn(asReply(changes).value) : null,
    };
  },
});

/** Drops the note at the end of a clipped list, and everything else that is not a valid change. */
function changesIn(value: unknown): Change[] {
  return Array.isArray(value) ? value.flatMap((change) => ChangeSchema.safeParse(change).data ?? []) : [];
}

function asReply({ json, isCut, isMasked }: { json: Buffer; isCut: boolean; isMasked: boolean }) {
  return { value: JSON.parse(json.toString()) as unknown, cut: isCut, masked: isMasked };
}

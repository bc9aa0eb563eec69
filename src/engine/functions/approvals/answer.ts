/** engine::approvals::answer: a person approves or denies a call that waits. */
import { z } from 'zod';

import { byOperator, byPerson } from '../../calls/by-person.ts';
import { engine } from '../../worker.ts';

export const approvalsAnswer = engine.defineFunction({
  id: 'engine::approvals::answer',
  summary: "Approve or deny a call that waits; for people only, and approving needs the operator's key.",
  effect: 'execute',
  permissions: ['engine.write'],
  request: z.object({
    id: z.string().max(512).describe('Call id from engine::approvals::list.'),
    answer: z
      .enum(['approve', 'always', 'deny'])
      .describe(
        '`always` also approves later calls of this caller that the same rule asks about, until the server ends.',
      ),
  }),
  response: z.object({ answered: z.literal(true) }),
  errors: ['deserialization_error', 'console_only', 'operator_only', 'NOT_FOUND'],
  examples: [],

  handle({ id, answer }, { sessions, calls }, scope) {
    const by = answer === 'deny' ? byPerson : byOperator;
    calls.approvals.answer(id, answer, by(sessions, scope));
    return { answered: true as const };
  },
});

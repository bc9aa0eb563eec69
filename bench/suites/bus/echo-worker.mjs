/** The echo as a worker of ours, with a handler like most: asynchronous, its request validated by a schema. */
import { z } from 'zod';

import { defineErrors, defineWorker } from '#contract';

export const ECHO = 'bench::echo';

const message = z.object({ text: z.string() });

const { table, fail } = defineErrors({
  E1: { meaning: 'The call failed.', http: 500, message: ({ why }) => why },
});

const bench = defineWorker({
  name: 'bench',
  summary: 'Says what it hears.',
  config: z.strictObject({}),
  errors: { table, fail },
  failures: {
    badInput: (why) => fail('E1', { why }),
    internal: (why) => fail('E1', { why }),
    deadline: (why) => fail('E1', { why }),
  },
  open: () => ({}),
});

const echo = bench.defineFunction({
  id: ECHO,
  summary: 'Answer with the request.',
  effect: 'read',
  permissions: [],
  request: message,
  response: message,
  errors: [],
  examples: [{ text: 'hello' }],
  handle: async ({ text }) => ({ text }),
});

export const echoWorker = { def: bench.withFunctions([echo]), context: {} };

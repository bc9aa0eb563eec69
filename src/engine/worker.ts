/** The engine's own functions as a worker: always present, never on a link. */
import { z } from 'zod';

import { defineWorker } from '#contract';
import type { EngineContext } from './engine.ts';
import { errors, fail, plainBody } from './errors.ts';
import { ENGINE_NAME } from './list-rows.ts';

export const engine = defineWorker({
  name: ENGINE_NAME,
  summary: 'The bus itself: connected workers, their functions, channels.',
  config: z.strictObject({}),
  errors,
  failures: {
    badInput: (problem, id) => fail('deserialization_error', { id, problem }),
    internal: (callId) => fail('internal_error', { callId }),
    deadline: (ms) => fail('TIMEOUT', { ms }),
  },
  spell: plainBody,
  open(): EngineContext {
    throw new Error('the engine makes its own context');
  },
});

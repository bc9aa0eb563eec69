/** A worker without functions, for tests that define their own; its one error is D1. */
import { z } from 'zod';

import { defineErrors, defineWorker } from '#contract';

export const errors = defineErrors({ D1: { meaning: 'It is gone.', http: 404, message: (_: object) => 'gone' } });
const gone = () => errors.fail('D1', {});

export const worker = defineWorker({
  name: 'digger',
  summary: 'For tests.',
  config: z.object({}),
  errors,
  failures: { badInput: gone, internal: gone, deadline: gone },
  open: () => ({}),
});

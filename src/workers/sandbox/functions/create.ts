/** sandbox::create: a fresh machine from an image, answered when a command in it would run. */
import { z } from 'zod';

import { createSandbox, MODEL_DEFAULTS, shapeFields } from '../create-sandbox.ts';
import { EnvShape } from '../environment.ts';
import { BackendSchema, IsolationSchema } from '../isolation.ts';
import { ImageEvent } from '../image-event.ts';
import { LONG_CALL_MS } from '../long-deadline.ts';
import { sandbox } from '../worker.ts';

export const create = sandbox.defineFunction({
  id: 'sandbox::create',
  summary: 'Start a fresh sandbox from an image and return its id.',
  details:
    'The first sandbox of an image may take a while: the image is fetched or built then. Nothing that a sandbox writes ' +
    'outlives it or is seen by another.',
  effect: 'execute',
  permissions: ['sandbox.run'],
  isDestructive: false,
  modelDefaults: MODEL_DEFAULTS,
  request: z
    .object({
      image: z
        .string()
        .describe('Name from sandbox::catalog::list; an OCI reference only if it is listed by that name.'),
      env: EnvShape.optional().describe('Environment of every command: ["K=V"] or {"K": "V"}.'),
      ...shapeFields,
    })
    .meta({ title: 'CreateRequest' }),
  response: z
    .object({
      sandbox_id: z.string().describe('Id of the sandbox; pass it as `sandbox_id`.'),
      image: z.string().describe('The image as sent.'),
      isolation: IsolationSchema.optional(),
      backend: BackendSchema.optional(),
    })
    .meta({ title: 'CreateResponse' }),
  events: ImageEvent,
  reads: { line: ['image', 'name'] },
  errors: ['S001', 'S100', 'S101', 'S102', 'S300', 'S400'],
  examples: [{ image: 'python' }],
  deadlineMs: LONG_CALL_MS,

  async handle(request, context, scope) {
    const { facts } = await createSandbox(request, context, scope);
    return { sandbox_id: facts.id, image: request.image, isolation: facts.isolation, backend: facts.rung };
  },
});

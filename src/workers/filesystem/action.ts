/**
 * An action: a function whose reply is always `{success, data | error, metadata?}`.
 *
 * A handler returns its data or throws; one function turns failures into results for all of them, so that a malformed
 * request is answered in the same form as a missing file.
 */
import { z } from 'zod';

import type { CallScope, FunctionDef, Policy } from '#contract';
import { HostError } from '#host';
import { hostErrorToFailure } from './errors.ts';
import { filesystem, type Code, type FilesystemContext } from './worker.ts';

interface ActionDef<Request extends z.ZodType, Data extends z.ZodType, Id extends string> extends Omit<
  FunctionDef<FilesystemContext, Request, z.ZodType, Code, Id>,
  'response' | 'handle' | 'policy'
> {
  policy: Policy;
  /** Data of a successful call. */
  data: Data;
  handle(
    request: z.output<Request>,
    context: FilesystemContext,
    scope: CallScope,
  ): Promise<z.input<Data>> | z.input<Data>;
}

/** The reply schema of every action. */
function replyOf<Data extends z.ZodType>(data: Data) {
  return z.object({
    success: z.boolean().describe('True on success; only then `data` is present.'),
    data: data.optional(),
    error: z.string().optional().describe('Why it failed.'),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('On failure: its `code`, and help to continue, such as `fix`, `closest` or `total_lines`.'),
  });
}

export function defineAction<Request extends z.ZodType, Data extends z.ZodType, Id extends string>(
  action: ActionDef<Request, Data, Id>,
) {
  const { data, ...def } = action;
  return filesystem.defineFunction<Request, ReturnType<typeof replyOf<Data>>, Id>({
    ...def,
    response: replyOf(data),
    async handle(request, context, scope) {
      try {
        return { success: true, data: await action.handle(request, context, scope) };
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        throw hostErrorToFailure(error, context.jail, { given: pathsIn(request), door: scope.door });
      }
    },
  });
}

function pathsIn(request: unknown): unknown[] {
  const { path, source, destination } = request as Record<string, unknown>;
  return [path, source, destination];
}

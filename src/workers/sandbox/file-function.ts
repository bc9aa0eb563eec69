/** A file operation as a function of a sandbox: the same operation on the files of the named sandbox. */
import { z } from 'zod';

import type { FileContext, FileOperation } from '#file-functions';
import { withNearestPath } from './nearest-path.ts';
import { parseSandboxId } from './live/sandbox-id.ts';
import { sandbox, type SandboxContext } from './worker.ts';

/** How long a write waits for the next bytes. */
const IDLE_MS = 30_000;

export const sandboxIdField = { sandbox_id: z.string().describe('From sandbox::create.') };

export function fileFunction<Shape extends z.ZodRawShape, Response extends z.ZodType, Id extends string>(
  { id, ...titles }: { id: Id; requestTitle?: string; responseTitle?: string },
  operation: FileOperation<z.ZodObject<Shape>, Response>,
) {
  // Leaves out the subject: its paths are those of a guest, and rules over paths are about the workspace.
  const { request, response, errors: codes, subject: _, ...definition } = operation;
  const requestTitle = titles.requestTitle ?? request.meta()?.title;
  const responseTitle = titles.responseTitle ?? response.meta()?.title;
  return sandbox.defineFunction({
    ...definition,
    id,
    permissions: inSandbox(definition.permissions),
    request: request.extend(sandboxIdField).meta({ title: requestTitle }),
    response: response.meta({ title: responseTitle }),
    errors: ['S001', 'S002', 'S004', ...codes],
    examples: [],

    handle(given, context, scope) {
      const { sandbox_id, ...fields } = given as z.output<z.ZodObject<Shape>> & { sandbox_id: string };
      const files = filesOf(sandbox_id, context);
      const work = operation.handle(fields as z.output<z.ZodObject<Shape>>, files, scope);
      return withNearestPath(work, files.files, scope);
    },
  });
}

/** Permissions for files of a sandbox, which differ from those for files of the host. */
export function inSandbox(permissions: readonly string[]): string[] {
  return permissions.map((permission) => `sandbox.${permission}`);
}

export function filesOf(sandboxId: string, { sandboxes, openReads }: SandboxContext): FileContext {
  const { files } = sandboxes.find(parseSandboxId(sandboxId));
  return { files, openReads, maxReadBytes: Infinity, maxWriteBytes: Infinity, idleMs: IDLE_MS };
}

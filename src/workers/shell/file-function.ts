/**
 * A file operation as a function of shell: on this host, or in the sandbox that the call names.
 *
 * Requests to a sandbox are forwarded unchecked: neither the jail nor the limits of this host apply, and a channel is
 * passed on as it came.
 */
import type { z } from 'zod';

import { throughDoor } from '#contract';
import type { FileCode, FileOperation } from '#file-functions';
import { errors, type ShellCode } from './errors.ts';
import { forwardToSandbox, readReply, requireSandboxes, Target } from './target.ts';
import { shell } from './worker.ts';

/** Codes that a sandbox may return and a file operation on this host never does. */
const SANDBOX_CODES = ['S001', 'S002', 'S003', 'S004', 'S200', 'S219'] as const satisfies readonly ShellCode[];

const FILE_CODES: readonly FileCode[] = ['S210', 'S211', 'S212', 'S213', 'S214', 'S215', 'S216', 'S217', 'S218'];

/** The sandbox has no deadline of its own for files. */
const FORWARDED_MS = 120_000;

export function fileFunction<Shape extends z.ZodRawShape, Response extends z.ZodType, Id extends string>(
  { id }: { id: Id },
  operation: FileOperation<z.ZodObject<Shape>, Response>,
) {
  const { request, deadlineMs = FORWARDED_MS, ...definition } = operation;
  const target = Target.default({ kind: 'host' }).describe(
    'Where the files are: on this host, or in a sandbox, by its `sandbox_id` from sandbox::create.',
  );
  const published = request.extend({ target }).meta({ title: request.meta()?.title });
  // Requests of the operation stay valid, because the added field has a default.
  const examples = operation.examples as readonly z.input<typeof published>[];
  return shell.defineFunction<typeof published, Response, Id>({
    ...definition,
    id,
    deadlineMs,
    request: published,
    errors: [...operation.errors, ...SANDBOX_CODES],
    examples,

    async handle(given, { files, isSandboxEnabled }, scope) {
      const { target: chosen, ...fields } = given as z.output<z.ZodObject<Shape>> & { target: Target };
      if (chosen.kind === 'host') return operation.handle(fields as z.output<z.ZodObject<Shape>>, files, scope);

      requireSandboxes(isSandboxEnabled);
      if ((given as { change?: string | null }).change != null) {
        throw errors.fail('S210', { problem: "'change' is for host targets only" });
      }
      const { sandbox_id } = chosen;
      const functionId = id.replace('shell::', 'sandbox::');
      const { respect_gitignore: _hostOnly, ...sent } = fields as Record<string, unknown>;
      const call = { functionId, payload: { ...sent, sandbox_id }, keeps: [...FILE_CODES, ...SANDBOX_CODES] };
      const { door, signal } = scope;
      const metadata = door && throughDoor(door);
      const reply = await forwardToSandbox(scope.bus, call, { timeoutMs: deadlineMs, signal, metadata });
      return readReply(operation.response, reply, functionId) as z.input<Response>;
    },
  });
}
